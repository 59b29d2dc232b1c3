/**
 * Finds the route of a request. Every path also exists under /v1. An unknown address is 404; another method on a known
 * address is 405 with Allow; OPTIONS says what is allowed. Browsers of any origin may use the demo and what needs no
 * key; those of the origins that the operator names also what needs one, with a token.
 */

import { assert } from "../../base/assert.ts";
import { Failure } from "../../base/errors.ts";
import { Answer } from "./answer.ts";
import type { Route } from "./route.ts";

interface PathPattern {
  readonly pattern: RegExp;
  readonly names: readonly string[];
  readonly routes: Map<string, Route>;
}

interface RouteMatch {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

/**
 * No route has this address. If it resembles the address of a page, the answer is a redirect to that page. Otherwise a
 * browser is shown a page, and every other client gets the problem.
 */
export class UnknownAddress extends Failure {
  readonly path: string;

  constructor(path: string) {
    super("not_found", "There is nothing at this address.");
    this.path = path;
  }
}

const VERSION_PREFIX = "/v1";
const PREFLIGHT_SECONDS = "86400";
const NO_PARAMS = {};

export class Router {
  readonly #exact = new Map<string, Map<string, Route>>();
  readonly #patterns: PathPattern[] = [];

  constructor(routes: Iterable<Route>) {
    for (const route of routes) {
      const place = this.#placeOf(route.path);
      assert(!place.has(route.method), `${route.method} ${route.path} has one route`);
      place.set(route.method, route);
    }
  }

  /** @param path without the query */
  find(method: string, path: string): RouteMatch {
    const { routes, params } = this.#lookUp(path);
    const route = routes.get(method) ?? (method === "HEAD" ? routes.get("GET") : undefined);
    return { route: route ?? otherMethod(method, routes), params };
  }

  #lookUp(target: string): { routes: ReadonlyMap<string, Route>; params: RouteMatch["params"] } {
    const path = target.startsWith(`${VERSION_PREFIX}/`) ? target.slice(VERSION_PREFIX.length) : target;
    const exact = this.#exact.get(path);
    if (exact !== undefined) return { routes: exact, params: NO_PARAMS };
    const decoded = decode(path);
    // A slash that is encoded separates nothing.
    const plain = decoded === path || /%2f/i.test(path) ? undefined : this.#exact.get(decoded);
    if (plain !== undefined) return { routes: plain, params: NO_PARAMS };
    for (const { pattern, names, routes } of this.#patterns) {
      const match = pattern.exec(path);
      if (match === null) continue;
      return { routes, params: Object.fromEntries(names.map((name, i) => [name, decode(match[i + 1])])) };
    }
    throw new UnknownAddress(path);
  }

  #placeOf(path: string): Map<string, Route> {
    if (!path.includes(":")) {
      const routes = this.#exact.get(path) ?? new Map<string, Route>();
      this.#exact.set(path, routes);
      return routes;
    }
    const source = path.replaceAll(".", "\\.").replace(/:\w+/g, "([^/]+)");
    const known = this.#patterns.find(({ pattern }) => pattern.source === new RegExp(`^${source}$`).source);
    if (known !== undefined) return known.routes;
    const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name);
    const routes = new Map<string, Route>();
    this.#patterns.push({ pattern: new RegExp(`^${source}$`), names, routes });
    return routes;
  }
}

/** The access of the 405 and OPTIONS answers, by that of the route. */
const OTHER_ACCESS: Partial<Record<Route["access"], Route["access"]>> = {
  open: "open",
  any: "open",
  demo: "open",
  key: "preflight",
  mcp: "origin",
  door: "door",
};

/** Answers a method that the address does not have. */
function otherMethod(method: string, routes: ReadonlyMap<string, Route>): Route {
  const names = [...routes.keys()].flatMap((name) => (name === "GET" ? ["GET", "HEAD"] : [name]));
  const allow = [...names, "OPTIONS"].join(", ");
  const all = [...routes.values()];
  const isOpen = ({ access }: Route) => OTHER_ACCESS[access] === "open";
  const first = all.find(isOpen) ?? all[0];
  // These answers need no key.
  const access = OTHER_ACCESS[first.access] ?? "page";
  const hasPages = access !== "page" && access !== "door";
  const handle = () => {
    if (method !== "OPTIONS")
      throw new Failure("method_not_allowed", `Use ${names.join(" or ")} here.`, { allow });
    return new Answer(undefined, {
      status: 204,
      headers: ["allow", allow, ...(hasPages ? preflight(allow) : [])],
    });
  };
  return { method, path: first.path, access, bodyBytesMax: "stream", handle };
}

function preflight(allow: string): string[] {
  return [
    "access-control-allow-methods",
    allow,
    "access-control-allow-headers",
    "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, Mcp-Protocol-Version, Mcp-Session-Id, Sideband-Client, X-Request-Id",
    "access-control-max-age",
    PREFLIGHT_SECONDS,
  ];
}

function decode(text: string): string {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Failure("invalid_request", "The address is not well-formed.");
  }
}
