import { createHash } from "node:crypto";
import { join } from "node:path";

/** Name of the variable with the folder of the results of a run. */
export const resultsFolder = "TEST_RESULTS";

/** The path of the results of a test file. */
export function resultsFile(/** @type {string} */ path) {
	return join(process.env[resultsFolder] ?? "", createHash("sha256").update(path).digest("hex"));
}
