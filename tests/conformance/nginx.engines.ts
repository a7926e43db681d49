import { nginx } from "./nginx-engine.ts";
import { testConformance } from "./suite.ts";

testConformance(nginx);
