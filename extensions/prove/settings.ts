import type { Variables } from "../../api/configuration.ts";

/** Reads the path of the browser that draws layers; empty: one of the usual places. */
export function readProve(variables: Variables): { browser: string } {
	return { browser: variables.text("BROWSER_PATH", "") };
}
