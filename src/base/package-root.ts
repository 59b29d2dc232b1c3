/** Where the package is: the one place that knows how far below it the sources and the build stand. */

/** The package's folder, with a slash at its end: above src/base (.ts) and above dist/src/base (.js). */
export const PACKAGE_ROOT = new URL(
  import.meta.url.endsWith(".ts") ? "../../" : "../../../",
  import.meta.url,
);
