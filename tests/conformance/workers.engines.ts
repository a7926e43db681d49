import { workers } from "./engines.ts";
import { conformance } from "./suite.ts";

conformance(workers);
