import { test } from "uvu";
import { killAtWork } from "../service/crash.ts";

test("kill -9 with 32 publishers at work, twenty times: every answer holds", () => killAtWork(20));

test.run();
