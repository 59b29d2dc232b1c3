/** The account of requests through the door of a data folder, which have no key: its header and its default. */

export const ACCOUNT_HEADER = "sideband-account";
export const ACCOUNT_DEFAULT = "default";
