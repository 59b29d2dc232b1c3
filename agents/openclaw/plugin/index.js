/** Sideband as OpenClaw's memory. The installation puts the address of its own copy of Sideband in here. */

import { openclawPlugin } from "sideband/openclaw";

// biome-ignore lint/style/noDefaultExport: the host looks for the default export.
export default openclawPlugin(process.env);
