import type { LayerStatus } from "../../registry/schemas/answers.ts";
import type { Lang } from "../../registry/smallkey.ts";
import type { Layer, Log, Store } from "../../store/store.ts";
import type { Environment, Io, Variables } from "../configuration.ts";
import type { Context, OtherRoute } from "../context.ts";
import type { AnswerEvent } from "../node/serve.ts";
import type { Senders } from "../senders.ts";
import type { Configuration } from "./settings.ts";

export interface App {
	/** Of the command. */
	name: string;
	summary: string;
	extensions: readonly Extension[];
}

/** Returns the exit code; it never throws and never ends the process. */
export type Run = (argv: readonly string[], environment: Environment, io: Io, app: App) => Promise<number>;

/** In the order of `--help`. */
export const purposes = ["publish", "review", "host", "operate", "move"] as const;

export type Command = readonly [
	name: string,
	purpose: (typeof purposes)[number],
	summary: string,
	load: () => Promise<Run>,
];

export interface ExtensionFile {
	path: string;
	/** The text is made only if one of these entries has changed. Absent: always. */
	from?: readonly object[];
	text: () => string;
}

/** A part that can be left out: the catalogue, and those of `extensions/index.ts`. */
export interface Extension {
	name: string;
	/** Also read if unused: a wrong value ends the start, and all names are known. */
	settings?: (variables: Variables) => object;
	commands?: readonly Command[];
	/** Files that it adds to a catalogue without a service. @param chunks all entries in their parts, in order */
	files?(chunks: readonly (readonly object[])[], publicUrl: string): Iterable<ExtensionFile>;
	start?(service: RunningService): Promise<Started> | Started;
}

export type LayerPart = (lang: Lang) => Partial<Omit<LayerStatus, "harvest" | "health">> & {
	harvest?: Partial<LayerStatus["harvest"]>;
	health?: Partial<LayerStatus["health"]>;
};

export interface Started {
	/** For the extensions that are started after it. */
	provides?: object;
	/** @param smallkeys the layers whose registration was written */
	changed?: (commit: string, smallkeys: readonly string[]) => void;
	routes?: readonly OtherRoute[];
	/** Null: it knows nothing of the layer. @param layer null if it is not registered */
	layer?: (smallkey: string, layer: Layer | null) => Promise<LayerPart | null>;
	refresh?: Context["refresh"];
	/** Why it is not ready, in one line for `/readyz`; null if it is. */
	state?: () => string | null;
	observe?: (event: ServiceEvent) => void;
	close: () => unknown;
}

export type ServiceEvent = AnswerEvent | { kind: "harvest"; outcome: string };

export type Gauges = Readonly<Record<string, number | null>>;

export interface RunningService<Settings extends object = object> {
	configuration: Configuration & Settings;
	senders: Senders;
	store: Store;
	/** Null if the layers are on GitHub. */
	repository: string | null;
	/** The commit that is served. */
	tip: () => string | null;
	/** Of the rendered files. */
	out: string;
	now: () => Date;
	log: Log;
	smallkeys: () => Iterable<string>;
	gauges: () => Promise<Gauges>;
	observe: (event: ServiceEvent) => void;
}
