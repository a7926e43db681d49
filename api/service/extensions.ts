import type { LayerStatus } from "../../registry/schemas/answers.ts";
import type { Lang } from "../../registry/smallkey.ts";
import type { Layer, Log, Store } from "../../store/store.ts";
import type { Environment, Io, Variables } from "../configuration.ts";
import type { OtherRoute } from "../context.ts";
import type { AnswerEvent } from "../node/serve.ts";
import type { WriteRoute } from "../register.ts";
import type { Senders } from "../senders.ts";
import type { Configuration } from "./settings.ts";

export interface App {
	name: string;
	summary: string;
	extensions: readonly Extension[];
}

/** Returns the exit code; never throws. */
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
	/** Made only if one of these has changed; absent: always. */
	from?: readonly object[];
	text: () => string;
}

/** The catalogue, and those of `extensions/index.ts`. */
export interface Extension {
	name: string;
	/** Always read: a wrong value ends the start. */
	settings?: (variables: Variables) => object;
	commands?: readonly Command[];
	/** Only for a catalogue without a service. @param chunks all entries, in order */
	files?(chunks: readonly (readonly object[])[], publicUrl: string): Iterable<ExtensionFile>;
	start?(service: RunningService): Promise<Started> | Started;
}

export type LayerPart = (
	lang: Lang,
) => Partial<Omit<LayerStatus, "health">> & { health?: Partial<LayerStatus["health"]> };

export interface Started {
	/** For later extensions. */
	provides?: object;
	/** @param smallkeys whose registration was written */
	changed?: (commit: string, smallkeys: readonly string[]) => void;
	routes?: readonly OtherRoute[];
	/** Null: nothing is known. @param layer null if it is not registered */
	layer?: (smallkey: string, layer: Layer | null) => Promise<LayerPart | null>;
	writes?: readonly WriteRoute[];
	observe?: (event: ServiceEvent) => void;
	close?: () => unknown;
}

export type ServiceEvent = AnswerEvent | { kind: "harvest"; outcome: string };

export type Gauges = Readonly<Record<string, number | null>>;

export interface RunningService<Settings extends object = object> {
	configuration: Configuration & Settings;
	senders: Senders;
	store: Store;
	/** Null if the layers are on GitHub. */
	repository: string | null;
	/** The served commit. */
	tip: () => string | null;
	/** Folder of the rendered files. */
	out: string;
	now: () => Date;
	log: Log;
	smallkeys: () => Iterable<string>;
	gauges: () => Promise<Gauges>;
	observe: (event: ServiceEvent) => void;
}
