/** The project's version, as in package.json, which a worker does not have beside it. */
export const version = "0.1.0";
