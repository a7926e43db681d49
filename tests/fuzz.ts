/** How many cases a property is tried with: `FUZZ_RUNS`, as `npm run test:fuzz` sets it. */
export const fuzzRuns = Number(process.env.FUZZ_RUNS ?? 500);
