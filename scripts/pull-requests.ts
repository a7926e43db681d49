// npx fragments pull-requests: lists the open pull requests that the workflow layers checks
import { Option } from "@commander-js/extra-typings";
import { findPulls } from "../review/pulls.ts";
import { connectToGithub } from "../service/github.ts";
import { readConfiguration } from "../service/settings.ts";
import { createCommandLine, createRun, exitCodes } from "../terminal/command-line.ts";
import { printLine } from "../terminal/io.ts";

const help = `
Prints JSON, [{"number": 1, "head": "<commit>"}], for --pulls of npx fragments comment and npx fragments approvals.`;

export const run = createRun(async (argv, environment, io) => {
	const options = createCommandLine("pull-requests", io)
		.option("--head <commit>", "only those whose newest commit is this one")
		.addOption(new Option("--missing <check>", "only those without this check").conflicts("head"))
		.option("--author <login>", "the App that sets the check", "github-actions[bot]")
		.addHelpText("after", help)
		.parse(argv, { from: "user" })
		.opts();
	const configuration = readConfiguration(environment);
	const base = configuration.github?.branch ?? "main";
	const pulls = await findPulls(connectToGithub(configuration), base, options);
	printLine(io, JSON.stringify(pulls));
	return exitCodes.done;
});
