/** Runs a command's main function: its exit code, or its error in one line and exit code 1. */
export async function runCommand(main: () => Promise<number>): Promise<void> {
	try {
		process.exitCode = await main();
	} catch (error) {
		const { message, cause } = error as Error;
		console.error(cause instanceof Error ? `${message}: ${cause.message}` : message);
		process.exitCode = 1;
	}
}
