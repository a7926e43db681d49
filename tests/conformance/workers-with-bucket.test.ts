import { workersWithBucket } from "./engines.ts";
import { conformance } from "./suite.ts";

conformance(workersWithBucket);
