/** Where the package is: the one place that knows how far below it the sources, the build and the bundled command line stand. */

const isSource = import.meta.url.endsWith(".ts");

/** The package's folder, with a slash at its end: above src/base (.ts), and above dist/src/base and dist/bundle/cli (.js). */
export const PACKAGE_ROOT = new URL(isSource ? "../../" : "../../../", import.meta.url);

/** The modules, each in a file of its own, with what some of them read and start. */
export const MODULES = new URL(isSource ? "src/" : "dist/src/", PACKAGE_ROOT);
