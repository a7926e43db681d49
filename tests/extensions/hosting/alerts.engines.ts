import { execFileSync, spawnSync } from "node:child_process";
import { join } from "node:path";
import { createMetrics } from "../../../extensions/hosting/metrics.ts";
import { root } from "../../helpers/process.ts";
import { suite } from "../../helpers/suite.ts";
import { runUnless } from "../../helpers/world.ts";

const test = suite("Prometheus");

function promtool(args: string[], input = "") {
	execFileSync("promtool", args, { input, stdio: "pipe" });
}

test("promtool accepts metrics and alerts, and the alerts fire when they should", async () => {
	const metrics = createMetrics();
	const line = { id: null, method: "GET", path: "", sender: null };
	metrics.observe({ kind: "answer", route: "doc", status: 200, milliseconds: 1, ...line });
	promtool(["check", "metrics"], await metrics.text(root, async () => ({ layers: 1, isReady: 1 })));
	promtool(["check", "rules", join(root, "deploy/alerts.yml")]);
	promtool(["test", "rules", join(root, "tests/extensions/hosting/alerts.yml")]);
});

const isMissing = spawnSync("promtool", ["--version"]).status !== 0;

runUnless(isMissing ? "the alerts: promtool is not installed (Debian: prometheus)" : null, test);
