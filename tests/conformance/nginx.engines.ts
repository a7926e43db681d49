import { nginx } from "./nginx-engine.ts";
import { conformance } from "./suite.ts";

conformance(nginx);
