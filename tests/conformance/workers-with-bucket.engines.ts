import { workersWithBucket } from "./engines.ts";
import { conformance } from "./suite.ts";

// A bucket changes where reads come from, and nothing else.
conformance(workersWithBucket, false);
