import * as assert from "uvu/assert";
import { layerPath } from "../../registry/smallkey.ts";
import { isRefusal, isReviewBranch, reviewBranch } from "../../store/store.ts";
import { test } from "../helpers/suite.ts";
import { temporaryFolder } from "../helpers/world.ts";
import { assertBusy, metaOf } from "./contract.ts";
import { openEmpty } from "./git-store.ts";

test("each branch of a review is known as one, and a branch of a person is not", () => {
	const review = { author: "ann", review: true };
	for (const meta of [
		metaOf("abc", review),
		metaOf("abc", { ...review, smallkey: null }),
		metaOf("abc", { ...review, reviewName: "spring.2026" }),
	])
		assert.ok(isReviewBranch(reviewBranch(meta)), reviewBranch(meta));
	for (const branch of ["main", "register", "register/ann/spring", "repair/a/review.b", "x/register/a"])
		assert.not.ok(isReviewBranch(branch), branch);
});

test("a smallkey that is also the id of a sender waits until that sender's named review is decided", async () => {
	await using folder = await temporaryFolder();
	const store = await openEmpty(folder.path);
	const put = (smallkey: string, parts: object) =>
		store
			.change(
				async () => [{ path: layerPath(smallkey), text: "{}\n" }],
				metaOf(smallkey, { author: "ann", review: true, ...parts }),
			)
			.catch((error: unknown) => error as Error);
	const named = await put("first", { reviewName: "spring" });
	assert.is("branch" in named && !isRefusal(named) && named.branch, "register/ann/review.spring");
	assertBusy(
		await put("ann", {}),
		"la branche register/ann/review.spring empêche de créer register/ann\u00a0: renommez-la, ou décidez de la révision qui y attend",
	);
	const other = await put("second", { reviewName: "spring" });
	assert.is("branch" in other && other.branch, "register/ann/review.spring", "others go on");
	await store.close();
});

test.run();
