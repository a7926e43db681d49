import { workersWithBucket } from "./engines.ts";
import { conformance } from "./suite.ts";

// A bucket changes where reads come from. Refusals come before it, from the code that tests/conformance/workers.test.ts
// asks; `npm run test:fuzz` asks for all of them here, too.
conformance(workersWithBucket, undefined, process.env.FUZZ_RUNS !== undefined);
