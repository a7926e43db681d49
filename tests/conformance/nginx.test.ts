import { nginx } from "./engines.ts";
import { conformance } from "./suite.ts";

conformance(nginx);
