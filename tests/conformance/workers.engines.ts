import { workers } from "./engines.ts";
import { sameAnswerTests } from "./same-answers.ts";
import { conformance } from "./suite.ts";

conformance(workers, sameAnswerTests);
