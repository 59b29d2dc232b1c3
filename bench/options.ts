/** What every benchmark is called with, and what it resolves to. */

export interface BenchOptions {
  /** Few trials, so that it is quick; bars on time are not enforced. */
  readonly small: boolean;
  readonly json: boolean;
  /** The file to draw the damage table into. */
  readonly svg: string | undefined;
  readonly trials: number | undefined;
  readonly seed: number;
  /** How long each row of the stores' benchmark is measured. */
  readonly seconds: number | undefined;
  /** The number of facts that a store grows to. */
  readonly facts: number | undefined;
  /** An empty database; without it a PostgreSQL is started for the run. */
  readonly databaseUrl: string | undefined;
  /** The workers of a Citus cluster that is started for the run, instead of one PostgreSQL. */
  readonly citus: number | undefined;
  /** The store of the benchmark of holds. */
  readonly store: "embedded" | "postgres";
  /** The folder of another commit, built, that decode and context are compared with. */
  readonly before: string | undefined;
}

/** Resolves to whether all bars hold. */
export type Bench = (options: BenchOptions) => Promise<boolean>;
