// npx fragment-publisher tell-failure: keeps an issue about a workflow that fails
import { connectToGithub } from "../../../api/service/github.ts";
import { readConfiguration } from "../../../api/service/settings.ts";
import { fenced, plain } from "../../../registry/untrusted-text.ts";
import { createRun, needed } from "../../../scripts/terminal/command-line.ts";
import { readTextIfThere } from "../../../store/files/files.ts";

const failureHelp = `
A failed run notifies only the person who pushed, and no one where that was a bot. An issue reaches all watchers.`;

const maxDetailsLength = 20_000;

export const run = createRun("tell-failure", async ({ read, environment, io }) => {
	const [options] = await read((line) =>
		line
			.option("--workflow <name>", "needed: the workflow, such as publish")
			.option("--results <words>", "needed: how its jobs ended, such as success skipped")
			.option("--run <address>", "needed: the page of its run")
			.option("--about <file>", "a text that the issue shows, where there is such a file")
			.option("--author <login>", "who opens the issue", "github-actions[bot]")
			.addHelpText("after", failureHelp),
	);
	const workflow = needed("--workflow", options.workflow);
	const page = needed("--run", options.run);
	const fails = /\b(?:failure|cancelled)\b/.test(needed("--results", options.results));
	const { rest, repo, paginate } = connectToGithub(readConfiguration(environment));
	const title = `The workflow ${workflow} fails`;
	const issues = await paginate(rest.issues.listForRepo, { ...repo, state: "open", per_page: 100 });
	const open = issues.find(
		(issue) => !issue.pull_request && issue.title === title && issue.user?.login === options.author,
	);
	const about = { ...repo, issue_number: open?.number ?? 0 };
	if (!fails) {
		if (!open) return void io.print("nothing to tell");
		await rest.issues.createComment({ ...about, body: `It works again: ${page}` });
		await rest.issues.update({ ...about, state: "closed" });
		return void io.print(`#${open.number} closed`);
	}
	// The failure is reported even if the file cannot be read: then the details are that error.
	const reading = options.about === undefined ? null : readTextIfThere(options.about);
	const text = await reading?.catch((error: Error) => `${error.message}: ${error.cause}`);
	const details = (text ?? "").slice(0, maxDetailsLength).trim();
	const lines = details === "" ? "" : `${fenced("text", details.split("\n").map(plain))}\n\n`;
	const body = `The last run that failed: ${page}\n\n${lines}This is closed by the next run that does not fail.\n`;
	if (open) {
		await rest.issues.update({ ...about, body });
		return void io.print(`#${open.number} updated`);
	}
	const { number } = (await rest.issues.create({ ...repo, title, body })).data;
	io.print(`#${number} opened`);
});
