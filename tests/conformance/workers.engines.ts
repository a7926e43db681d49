import { workers } from "./engines.ts";
import { testConformance } from "./suite.ts";

testConformance(workers);
