import type { Extension } from "../../api/service/extensions.ts";

export const review: Extension = {
	name: "review",
	commands: [
		[
			"review",
			"review",
			"show what a change does for viewers and what is wrong with it; list, accept and decline the changes that wait on this machine",
			async () => (await import("./commands/review.ts")).run,
		],
		[
			"approvals",
			"review",
			"set the checks of pull requests, post what review found, and say who can still approve",
			async () => (await import("./commands/approvals.ts")).run,
		],
		[
			"setup-github",
			"host",
			"print each setting of a repository on GitHub that differs from what production needs, with the line that sets it",
			async () => (await import("./commands/setup-github.ts")).run,
		],
		[
			"status",
			"operate",
			"show the status of the whole catalogue: sick layers, missing harvests, waiting reviews, disk space",
			async () => (await import("./commands/status.ts")).run,
		],
		[
			"audit",
			"operate",
			"show who changed a layer, when and how",
			async () => (await import("./commands/audit.ts")).run,
		],
	],
	start: async (service) => (await import("./waiting.ts")).startReviews(service),
};
