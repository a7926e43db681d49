import type { Extension } from "../../api/service/extensions.ts";
import type { SiteService } from "../../site/extension.ts";
import { recordsFiles } from "./records.ts";
import { recordsRoutes } from "./routes.ts";

export const records: Extension = {
	name: "records",
	files: recordsFiles,
	start: ({ catalogue }: SiteService) => ({
		routes: catalogue ? recordsRoutes(catalogue) : [],
	}),
};
