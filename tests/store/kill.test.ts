import { killAtWork } from "../faults/crash.ts";
import { test } from "../helpers/suite.ts";

test("kill -9 with eight publishers at work, and a start: every answer holds", () => killAtWork(1, 8));

test.run();
