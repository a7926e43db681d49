/** Cases of a property. */
export const fuzzRuns = Number(process.env.FUZZ_RUNS ?? 500);
