/** Names of all targets, in the order of their viewers' age. */
export const targetNames = ["v0.9", "v1", "v2", "ramp4"] as const;

/** The name of a form in which layers are read. */
export type TargetName = (typeof targetNames)[number];
