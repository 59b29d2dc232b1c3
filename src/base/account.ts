/** How the account is named where no key names it: through the door of a data folder. */

export const ACCOUNT_HEADER = "sideband-account";
export const ACCOUNT_DEFAULT = "default";
