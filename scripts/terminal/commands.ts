/** Every command by its purpose, with a one-line summary for `npx fragment-publisher --help` and for its own help. */
export const commands = {
	publish: {
		put: "register a layer, or change it, by a signed PUT",
		register: "send a folder of registrations to a service, or store it in one commit",
		remove: "remove layers, each by a signed DELETE",
		sign: "print the three headers that sign a request, for curl",
		validate: "check registrations without writing anything",
	},
	review: {
		review:
			"show what a change does for viewers and what is wrong with it; list, accept and decline those that wait on this machine",
		"pull-requests": "list the open pull requests that the workflow layers checks",
		comment: "post what review found on its pull request, and set the check layers",
		approvals: "set the check of the owners' approval on pull requests, and say who can still approve",
		owners: "write the ids of GitHub accounts into layers/owners.json",
		"check-services": "check that the services behind the layers have what the registrations say",
	},
	host: {
		build: "render every fragment as a static file",
		"setup-github": "set up a repository on GitHub for production, or check it",
		headers:
			"print the configuration with which nginx, Apache, Caddy or CloudFront serves a build as static files",
		deploy: "put the build and the worker on Cloudflare",
		"publish-objects": "synchronize a bucket with the build",
		follow: "build each new commit of a repository on GitHub, for the web server of this machine",
		verify: "check that a hosting serves the build",
		workers: "serve as a Cloudflare Worker on this machine",
	},
	operate: {
		serve: "serve on this machine",
		sender: "add, change and remove senders, who may publish",
		backup: "copy the layers and the senders of DATA_DIR to another disk, and read the copy back",
		status:
			"show the status of a layer, or of all: sick, without a harvest, waiting for a review, free disk space",
		audit: "show who changed a layer, when and how, and what it changed for viewers",
		harvest: "read the descriptions of layers from their services",
		"watch-services": "check each layer as a viewer sees it, and write the sick ones into layers/health.json",
		repair: "look for the services of layers that stay sick, and propose what to register in their place",
		prove: "draw layers in a browser, and keep for each whether it can be seen, with a picture",
		"tell-failure": "keep one issue open for as long as a workflow fails",
	},
	move: {
		import: "import the layers and senders of an older service from a dump of its database",
		compare: "show the differences of the same layers on two services",
	},
	develop: {
		schemas: "write the JSON Schemas and the OpenAPI document",
		bench: "measure the service and the build against references",
	},
} as const satisfies Record<string, Record<string, string>>;

type Groups = typeof commands;
export type CommandName = { [group in keyof Groups]: keyof Groups[group] }[keyof Groups];

export const summaries: Readonly<Record<CommandName, string>> = Object.assign({}, ...Object.values(commands));

export function isCommand(name: string): name is CommandName {
	return Object.hasOwn(summaries, name);
}
