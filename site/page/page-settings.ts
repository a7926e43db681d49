import type { Lang } from "../../registry/smallkey.ts";
import type { TargetName } from "../../registry/targets/facts.ts";

export interface OperatorSettings {
	/** Null: only the name that every site has. */
	name: Readonly<Record<Lang, string>> | null;
	/** A mail address, or the http or https address of a page; empty if unknown. */
	contact: string;
	terms: Readonly<Record<Lang, string>> | null;
	/**
	 * Address of tiles in the official grid of EPSG:3978, with `{z}`, `{y}` and `{x}`; empty for the land's
	 * outline.
	 */
	baseMap: string;
	baseMapAttribution: string;
	/** Address of the public repository, such as `https://github.com/owner/name`; empty if there is none. */
	repository: string;
	branch: string;
}

export interface SiteSettings extends OperatorSettings {
	targets: readonly TargetName[];
	mapWkid: number;
	/** Whether the service accepts signed requests from this page. */
	canSend: boolean;
	metadataUrl: string;
	catalogueUrl: string;
	/** A build of files has no pages for many layers. */
	hasLayerPages: boolean;
}
