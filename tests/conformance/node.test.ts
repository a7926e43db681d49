import { node } from "./engines.ts";
import { conformance } from "./suite.ts";

conformance(node);
