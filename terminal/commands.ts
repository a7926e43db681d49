/** Every command by its purpose, and what it does in a line: for `npx fragments --help`, and each command's own help. */
export const commands = {
	publish: {
		put: "register a layer, or change it, by a signed PUT",
		remove: "take a layer away by a signed DELETE",
		sign: "print the three headers that sign a request, for curl",
		validate: "check registrations without writing anything",
	},
	review: {
		review: "show what a pull request changes for a viewer, and what is wrong with it",
		"pull-requests": "list the open pull requests that the workflow layers looks at",
		comment: "post what review found on its pull request, and set the check layers",
		accept: "merge a change that waits for a reviewer in the repository of a service on this machine",
		decline: "take such a change off the list, with a reason",
		approvals: "set the check of the owners' approval on pull requests, and say who can still approve",
		"check-services": "check that the services behind the layers have what the registrations say",
	},
	host: {
		build: "render every fragment as a static file",
		catalogue: "write the catalogue page, with its index and all fragments, as a static site",
		"setup-github": "bring a repository on GitHub into the state that production needs, or check it",
		headers:
			"print the configuration with which nginx, Apache, Caddy or CloudFront serves a build as static files",
		deploy: "put the build and the worker on Cloudflare",
		"publish-objects": "keep a bucket in step with the build",
		follow: "keep a build in step with a repository on GitHub, for the web server of this machine",
		verify: "check that a hosting serves what was built",
		workers: "serve as a Cloudflare Worker on this machine",
	},
	operate: {
		serve: "serve on this machine",
		sender: "add, change and remove those who may publish",
		status: "show how one layer is, or all: sick, never harvested, waiting for a review, room on the disk",
		audit: "show who changed a layer, when, through which door, and what it changed for viewers",
		harvest: "ask the services behind feature layers what they are",
		"watch-services":
			"look at each layer as a viewer would, and write which are sick into layers/health.json",
		"tell-failure": "keep one issue open for as long as a workflow fails",
	},
	move: {
		register: "store many registrations in one commit",
		import: "move the layers and senders of an older service here, from a dump of its database",
		compare: "show in what two services differ for the readers of the same layers",
	},
	develop: {
		test: "check types and run the tests",
		"test-nodes": "run the tests on other versions of Node",
		"test-faults": "break disks, repositories and processes under the service, and write docs/reliability.md",
		"test-fuzz": "try the properties with a hundred thousand cases each",
		screenshots: "take pictures of the catalogue with these layers, for the README and for looking at",
		schemas: "write the JSON Schemas and the OpenAPI document",
		bench: "measure the service and the build against references",
	},
} as const satisfies Record<string, Record<string, string>>;

type Groups = typeof commands;

/** Name of a command: its module is `scripts/<name>.ts`. */
export type CommandName = { [group in keyof Groups]: keyof Groups[group] }[keyof Groups];

/** Whether there is a command of this name. */
export function isCommand(name: string): name is CommandName {
	return Object.values(commands).some((lines) => Object.hasOwn(lines, name));
}

/** What a command does, in a line. */
export function summaryOf(name: CommandName): string {
	const lines: Record<string, string> = Object.assign({}, ...Object.values(commands));
	return lines[name] as string;
}

/** How a command is called: `npx fragments build`. */
export function callOf(name: string): string {
	return `npx fragments ${name}`;
}
