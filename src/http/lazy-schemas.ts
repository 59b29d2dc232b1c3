/**
 * Validators and serialisers that are compiled when a route is first used, or in quiet moments after the start:
 * compiling them all takes as long as the rest of a start. They are those that Fastify would make itself.
 */

import { createRequire } from "node:module";
import type { FastifyInstance, FastifyServerOptions } from "fastify";

type Compile = (route: unknown) => CompiledFunction;
type Build = (externalSchemas: unknown, options: unknown) => Compile;
type CompiledFunction = ((data: unknown) => unknown) & { errors?: unknown };

/** The first requests after a start go before. */
const WARM_AFTER_MS = 500;

export class LazySchemas {
  readonly #waiting = new Set<() => void>();

  /** For Fastify's option `schemaController`. */
  readonly controller = {
    compilersFactory: {
      buildValidator: this.#lazily("@fastify/ajv-compiler"),
      buildSerializer: this.#lazily("@fastify/fast-json-stringify-compiler"),
    },
  } as unknown as NonNullable<FastifyServerOptions["schemaController"]>;

  /** Compiles what no request has asked for yet, one at a time, once the server listens. */
  warm(app: FastifyInstance): void {
    let timer: NodeJS.Timeout | undefined;
    const step = () => {
      const [compile] = this.#waiting;
      compile?.();
      if (this.#waiting.size > 0) timer = setTimeout(step, 1);
    };
    app.addHook("onListen", (done) => {
      timer = setTimeout(step, WARM_AFTER_MS);
      done();
    });
    app.addHook("preClose", (done) => {
      clearTimeout(timer);
      done();
    });
  }

  #lazily(packageName: string): Build {
    return (externalSchemas, options) => {
      let compile: Compile | undefined;
      return (route) => {
        let compiled: CompiledFunction | undefined;
        const prepare = () => {
          this.#waiting.delete(prepare);
          compile ??= builderOf(packageName)(externalSchemas, options);
          compiled = compile(route);
          return compiled;
        };
        this.#waiting.add(prepare);
        // Where a validator refuses, it leaves its reasons on the function itself.
        const lazy: CompiledFunction = (data) => {
          const run = compiled ?? prepare();
          const result = run(data);
          lazy.errors = run.errors;
          return result;
        };
        return lazy;
      };
    };
  }
}

/** Fastify's own compilers, found from where Fastify is. */
function builderOf(packageName: string): Build {
  const fromFastify = createRequire(createRequire(import.meta.url).resolve("fastify"));
  return (fromFastify(packageName) as () => Build)();
}
