import type { Environment, Io } from "../../registry/environment.ts";
import type { LayerStatus } from "../../registry/schemas/answers.ts";
import type { Lang } from "../../registry/smallkey.ts";
import type { GitOperation } from "../../store/git/base.ts";
import type { Log } from "../../store/log.ts";
import { isRefusal, type Layer, type Store } from "../../store/store.ts";
import type { Variables } from "../configuration.ts";
import type { Context, OtherRoute } from "../context.ts";
import type { Senders } from "../senders.ts";
import type { Configuration } from "./settings.ts";

/** What a command gets beside its words: its summary for `--help`, and all extensions. */
export interface App {
	summary: string;
	extensions: readonly Extension[];
}

/**
 * A command: from its arguments, the environment and its input and output to its exit code. It never throws and never ends
 * the process, so that tests can call it.
 */
export type Run = (argv: readonly string[], environment: Environment, io: Io, app: App) => Promise<number>;

/** For what a command is used: the heading above it in `--help`. */
export type Purpose = "publish" | "review" | "host" | "operate" | "move" | "develop";

/** A command. Its module is loaded when it is called. */
export interface Command {
	name: string;
	purpose: Purpose;
	/** One line for `--help`. */
	summary: string;
	/** Its subcommands that may be called without its name. */
	short?: readonly string[];
	load: () => Promise<Run>;
}

/**
 * What can be added to the service and the command, and taken off. The list of extensions is in `extensions/index.ts`; the
 * catalogue is the first one. A member that an extension does not need is left out.
 */
export interface Extension {
	name: string;
	/** Reads its settings, so that their names are known, and a bad one ends the start. They become part of the configuration. */
	settings?: (variables: Variables) => object;
	commands?: readonly Command[];
	/**
	 * The files that it adds to a catalogue without a service.
	 * @param chunks all entries of the catalogue in their parts, in order
	 * @returns path below the site → text
	 */
	files?(chunks: readonly (readonly object[])[], publicUrl: string): Iterable<[path: string, text: string]>;
	/** Starts its part of a running service. @throws {Error} that ends the start */
	start?(service: RunningService): Promise<Started> | Started;
}

/** What an extension knows of a layer for its status, in a language; members are merged over those of earlier extensions. */
export type LayerPart = (lang: Lang) => Partial<Omit<LayerStatus, "harvest" | "health">> & {
	harvest?: Partial<LayerStatus["harvest"]>;
	health?: Partial<LayerStatus["health"]>;
};

/** The part of an extension in a running service. */
export interface Started {
	/** Members that later extensions find in their service. */
	provides?: object;
	/** Called after commits were published. @param smallkeys the layers whose registration was written */
	changed?: (commit: string, smallkeys: readonly string[]) => void;
	/** Routes, asked after the core's own; those of later extensions first. */
	routes?: readonly OtherRoute[];
	/** What it knows of a layer; null: nothing. @param layer null if it is not registered */
	layer?: (smallkey: string, layer: Layer | null) => Promise<LayerPart | null>;
	/** Whether it knows something of a layer that is not registered. It has to be cheap: anyone may ask. */
	knows?: (smallkey: string) => Promise<boolean>;
	/** When it looked at a layer's services, in milliseconds since 1970; null if it has not. Pages ask it for each row. */
	lastLook?: (smallkey: string) => number | null;
	/** Harvests layers again: see `Context`. */
	refresh?: Context["refresh"];
	/** Why the service is not ready because of it, in one line; null if it is. */
	state?: () => string | null;
	/** Numbers for the metrics, by name. */
	gauges?: () => Gauges;
	/** Gets what happens in the service, to count it. */
	observe?: (event: Observed) => void;
	/** Lines for the text after the start. @param base the address of the service with its base path */
	welcome?: (base: string) => string[];
	close: () => unknown;
}

/** What happens in a service. */
export type Observed =
	| { kind: "answer"; route: string; status: number; milliseconds: number; reason: string | undefined }
	| { kind: "commit"; by: "sender" | "service" }
	| { kind: "git"; operation: GitOperation; milliseconds: number }
	| { kind: "harvest"; outcome: string };

/** Numbers of a service by name; a number that is not known is null or absent. */
export type Gauges = Readonly<Record<string, number | null>>;

/** A running service, as its extensions see it. */
export interface RunningService<Settings extends object = object> {
	configuration: Configuration & Settings;
	senders: Senders;
	store: Store;
	/** The bare repository; null if the layers are on GitHub. */
	repository: string | null;
	/** The commit that is served; null if that is not known. */
	tip: () => string | null;
	/** The folder of the rendered files. */
	out: string;
	now: () => Date;
	log: Log;
	/** All smallkeys, in any order; empty if they are not known. */
	smallkeys: () => Iterable<string>;
	/** All gauges, also those of extensions. */
	gauges: () => Promise<Gauges>;
	/** Tells all extensions what happened. */
	observe: (event: Observed) => void;
	/** The `lastLook` of all extensions; null if none has one. */
	lastLook: () => ((smallkey: string) => number | null) | null;
}

/** Starts extensions one after the other. If one fails, those before it are closed. */
export async function startExtensions(
	extensions: readonly Extension[],
	service: RunningService,
	started: Started[],
): Promise<void> {
	let provided: object = {};
	for (const { start } of extensions) {
		const part = await start?.({ ...service, ...provided });
		if (!part) continue;
		started.push(part);
		provided = { ...provided, ...part.provides };
	}
}

/** Has each commit that a store makes observed. @returns the same store */
export function observeCommits<S extends Store>(store: S, observe: (event: Observed) => void): S {
	const change = store.change.bind(store);
	store.change = async (edits, meta) => {
		const outcome = await change(edits, meta);
		const by = meta.request === null ? "service" : "sender";
		if (!isRefusal(outcome) && outcome.changed) observe({ kind: "commit", by });
		return outcome;
	};
	return store;
}
