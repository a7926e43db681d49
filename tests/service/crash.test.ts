import { test } from "uvu";
import { killAtWork } from "./crash.ts";

// npm run test:faults does it twenty times.
test("kill -9 with 32 publishers at work: every answer holds", () => killAtWork(5));

test.run();
