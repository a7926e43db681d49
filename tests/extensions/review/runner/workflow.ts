import type { ActionCall } from "./actions.ts";

export type Texts = Record<string, unknown>;

export interface Step {
	id?: string;
	name?: string;
	if?: string;
	uses?: string;
	run?: string;
	shell?: string;
	with?: Texts;
	env?: Texts;
	"continue-on-error"?: boolean;
}

export interface Job {
	name?: string;
	needs?: string | string[];
	if?: string;
	env?: Texts;
	outputs?: Record<string, string>;
	environment?: { name: string };
	permissions?: Record<string, string>;
	steps: Step[];
}

export interface Workflow {
	name: string;
	on: Record<string, Texts | null>;
	env?: Texts;
	concurrency?: { group: string };
	permissions?: Record<string, string>;
	jobs: Record<string, Job>;
}

export type Result = "success" | "failure" | "skipped";

/** What starts a run, as GitHub describes it in the context `github`. */
export interface Start {
	event: string;
	ref: string;
	sha: string;
	payload: Record<string, unknown>;
	/** From 1; a run that is started again has the same commit and event. */
	attempt?: number;
}

export interface Host
	extends Pick<ActionCall, "remote" | "folder" | "createToken" | "appSlug" | "environment"> {
	defaultBranch: string;
	variables: Record<string, string>;
	/** Secrets of each environment: only a run on the default branch gets them (GitHub, "Deployment branches and tags"). */
	secrets: Record<string, Record<string, string>>;
	token: string;
	/** Happens when a job has ended. */
	afterJob?: (id: string, run: Run) => void;
	/** Texts that may not be handed from one job to another. */
	isSecret: (text: string) => boolean;
}

export interface PlayedJob {
	name: string;
	result: Result;
	outputs: Record<string, string>;
	/** What its commands have printed, and why it failed. */
	log: string;
	/** Empty where it did not run. */
	workspace: string;
}

/** A run of one workflow: its jobs by their ids. */
export interface Run {
	workflow: Workflow;
	start: Start;
	conclusion: Result;
	jobs: Record<string, PlayedJob>;
	artifacts: Map<string, string>;
}
