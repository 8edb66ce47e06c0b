import assert from "node:assert/strict";
import { test } from "node:test";
import { weight } from "../src/reports.ts";

test("a report is worth nothing after ten days", () => {
  const report = { trail: "mill-creek", condition: "mud", note: "", at: 0 } as const;
  assert.equal(weight(report, 11 * 24 * 60 * 60 * 1000), 0);
});
