/** How many cases a property is tried with: `FUZZ_RUNS`, or few, as in CI. */
export const fuzzRuns = Number(process.env.FUZZ_RUNS ?? 500);
