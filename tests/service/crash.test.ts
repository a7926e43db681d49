import { test } from "../helpers/suite.ts";
import { killAtWork } from "./crash.ts";

// Once with its git processes and once without. npm run test:faults does it twenty times, and during a large push, too.
test("kill -9 with 32 publishers at work: every answer holds", () => killAtWork(2));

test.run();
