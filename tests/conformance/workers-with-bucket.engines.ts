import { workersWithBucket } from "./engines.ts";
import { testConformance } from "./suite.ts";

// A bucket changes where reads come from, and nothing else.
testConformance(workersWithBucket, false);
