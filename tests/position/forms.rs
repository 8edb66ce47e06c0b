//! The next action where a file says something in another form: each row changes a small project in one place.

use crate::position::answer::Answer;
use crate::support::Case;

const ROADMAP: &str = "\
# Roadmap: Tool library

- [x] **Phase 1: Shelves** - Tools have a place
- [ ] **Phase 2: Loans** - Tools go out
- [ ] **Phase 3: Returns** - Tools come back
";
const DONE: &str = "---\nstatus: complete\n---\n# Summary\n";

/// What is special, the files, and the answer.
type Row = (&'static str, &'static [(&'static str, &'static str)], &'static str);

const ROWS: &[Row] = &[
    ("nothing", &[], "plan 2"),
    (
        "a denied status word",
        &[("phases/02-loans/02-01-SUMMARY.md", "---\nstatus: not_complete\n---\n")],
        "execute 2",
    ),
    (
        "a status word of phases",
        &[("phases/02-loans/02-01-SUMMARY.md", "---\nstatus: on hold\n---\n")],
        "execute 2",
    ),
    (
        "counts of tasks in the front matter",
        &[("phases/02-loans/02-01-SUMMARY.md", "---\ntasks_completed: 1\ntasks_total: 4\n---\n")],
        "execute 2",
    ),
    (
        "a finished plan that is ready for what follows",
        &[("phases/02-loans/02-01-SUMMARY.md", "# Summary\n\n**Status:** Ready for phase 3\n")],
        "plan 3",
    ),
    (
        "an unknown word before the result of a user test",
        &[
            ("phases/02-loans/02-01-SUMMARY.md", DONE),
            ("phases/02-loans/02-UAT.md", "# UAT\n\n**Result:** 3/5\n**Status:** issues found\n"),
            ("config.json", "{\"auto_uat\": true}"),
        ],
        "remediate 2",
    ),
    ("a folder of old plans", &[("phases/02-loans/archive/02-01-PLAN.md", "# Plan\n")], "plan 2"),
    (
        "folders with other names than the roadmap's, behind the phase that STATE.md names",
        &[
            (
                "ROADMAP.md",
                "# Roadmap\n\n- [ ] **Phase 1: Fines**\n- [ ] **Phase 2: Letters**\n- [ ] **Phase 3: Ledger**\n",
            ),
            ("STATE.md", "# State\n\nPhase: 2 of 3 (Letters)\nStatus: Phase complete\n"),
            ("phases/02-loans/02-01-PLAN.md", "# Plan\n"),
            ("phases/02-loans/02-01-SUMMARY.md", DONE),
        ],
        "plan 3",
    ),
    (
        "a list of plans that supersede one",
        &[("phases/02-loans/02-01-PLAN.md", "---\nsuperseded_by: [03-01]\n---\n")],
        "plan 3",
    ),
    (
        "a plan that the roadmap calls moved in brackets",
        &[
            (
                "ROADMAP.md",
                "# Roadmap\n\n- [x] **Phase 1: Shelves**\n- [ ] **Phase 2: Loans**\n- [ ] **Phase 3: Returns**\n\n\
                 ### Phase 2: Loans\n\nPlans:\n- [x] 02-01: cards\n- [ ] 02-02: form (moved to Phase 3)\n\n### Phase 3: Returns\n",
            ),
            ("phases/02-loans/02-01-PLAN.md", "# Plan\n"),
            ("phases/02-loans/02-01-SUMMARY.md", DONE),
            ("phases/02-loans/02-02-PLAN.md", "# Plan\n"),
        ],
        "plan 3",
    ),
    (
        "a plan that the roadmap calls not needed behind a dash",
        &[
            (
                "ROADMAP.md",
                "# Roadmap\n\n- [x] **Phase 1: Shelves**\n- [ ] **Phase 2: Loans**\n- [ ] **Phase 3: Returns**\n\n\
                 ### Phase 2: Loans\n\nPlans:\n- [x] 02-01: cards\n- [ ] 02-02: form \u{2014} not needed\n\n### Phase 3: Returns\n",
            ),
            ("phases/02-loans/02-01-PLAN.md", "# Plan\n"),
            ("phases/02-loans/02-01-SUMMARY.md", DONE),
            ("phases/02-loans/02-02-PLAN.md", "# Plan\n"),
        ],
        "plan 3",
    ),
    (
        "a plan that the roadmap calls superseded behind a dash",
        &[
            (
                "ROADMAP.md",
                "# Roadmap\n\n- [x] **Phase 1: Shelves**\n- [ ] **Phase 2: Loans**\n- [ ] **Phase 3: Returns**\n\n\
                 ### Phase 2: Loans\n\nPlans:\n- [x] 02-01: cards\n- [ ] 02-02: form \u{2014} superseded by 02-01\n\n### Phase 3: Returns\n",
            ),
            ("phases/02-loans/02-01-PLAN.md", "# Plan\n"),
            ("phases/02-loans/02-01-SUMMARY.md", DONE),
            ("phases/02-loans/02-02-PLAN.md", "# Plan\n"),
        ],
        "plan 3",
    ),
    (
        "a name whose remark begins with a word for dropped work",
        &[(
            "ROADMAP.md",
            "# Roadmap\n\n- [x] **Phase 1: Shelves**\n- [ ] **Phase 2: Loans \u{2014} deferred loading**\n\
             - [ ] **Phase 3: Returns (cancelled ones)**\n",
        )],
        "plan 2",
    ),
    (
        "a plan whose remark begins with such a word",
        &[
            (
                "ROADMAP.md",
                "# Roadmap\n\n- [x] **Phase 1: Shelves**\n- [ ] **Phase 2: Loans**\n- [ ] **Phase 3: Returns**\n\n\
                 ### Phase 2: Loans\n\nPlans:\n- [x] 02-01: cards\n- [ ] 02-02: images (deferred loading)\n\n### Phase 3: Returns\n",
            ),
            ("phases/02-loans/02-01-PLAN.md", "# Plan\n"),
            ("phases/02-loans/02-01-SUMMARY.md", DONE),
            ("phases/02-loans/02-02-PLAN.md", "# Plan\n"),
        ],
        "execute 2",
    ),
    (
        "a phase that was moved to a version",
        &[(
            "ROADMAP.md",
            "# Roadmap\n\n- [x] **Phase 1: Shelves**\n- [ ] **Phase 2: Loans (moved to v2)**\n- [ ] **Phase 3: Returns**\n",
        )],
        "plan 3",
    ),
    (
        "a roadmap with a word for phases in another language",
        &[(
            "ROADMAP.md",
            "# Roadmap\n\n- [x] **\u{424}\u{430}\u{437}\u{430} 1: Shelves**\n- [x] **Fase 2: Loans**\n\
             - [ ] **\u{9636}\u{6bb5} 3: Returns**\n\n## Fase 3: Returns\n",
        )],
        "plan 3",
    ),
    (
        "phases that are dropped behind their names",
        &[(
            "ROADMAP.md",
            "# Roadmap\n\n- [x] **Phase 1: Shelves**\n- [ ] **Phase 2: Loans** \u{2014} folded into Phase 3\n\
             - [ ] **Phase 3: Returns**\n",
        )],
        "plan 3",
    ),
    (
        "a plan whose remark describes what it is about",
        &[
            (
                "ROADMAP.md",
                "# Roadmap\n\n- [x] **Phase 1: Shelves**\n- [ ] **Phase 2: Loans**\n- [ ] **Phase 3: Returns**\n\n\
                 ### Phase 2: Loans\n\nPlans:\n- [ ] 02-01: entry point int main(void)\n\n### Phase 3: Returns\n",
            ),
            ("phases/02-loans/02-01-PLAN.md", "# Plan\n"),
        ],
        "execute 2",
    ),
    (
        "a phase that was put off until after something",
        &[(
            "ROADMAP.md",
            "# Roadmap\n\n- [x] **Phase 1: Shelves**\n- [ ] **Phase 2: Loans (deferred post-MVP)**\n- [ ] **Phase 3: Returns**\n",
        )],
        "plan 3",
    ),
    (
        "a dropped plan, and one that only the roadmap counts",
        &[
            (
                "ROADMAP.md",
                "# Roadmap\n\n- [x] **Phase 1: Shelves**\n- [ ] **Phase 2: Loans**\n- [ ] **Phase 3: Returns**\n\n\
                 ### Phase 2: Loans\n\n**Plans:** 2 plans\n",
            ),
            ("phases/02-loans/02-01-PLAN.md", "---\nstatus: dropped\n---\n"),
        ],
        "plan 2",
    ),
    (
        "a plan as it was before its review",
        &[
            ("phases/02-loans/plans/PLAN-01-cards.md", "# Plan\n"),
            ("phases/02-loans/plans/PLAN-01-cards.pre-bounce.md", "# Plan\n"),
            ("phases/02-loans/plans/SUMMARY-01-cards.md", DONE),
        ],
        "plan 3",
    ),
    (
        "a partial plan in a phase that only its row and STATE.md call complete",
        &[
            (
                "ROADMAP.md",
                "# Roadmap\n\n- [x] **Phase 1: Shelves**\n- [ ] **Phase 2: Loans**\n- [ ] **Phase 3: Returns**\n\n\
                 | Phase | Done | Status | Date |\n|---|---|---|---|\n| 2 - Loans | 1/1 | complete | 2026-03-04 |\n",
            ),
            ("STATE.md", "# State\n\nPhase: 2 of 3 (Loans)\nStatus: complete\n"),
            ("phases/02-loans/02-01-SUMMARY.md", "---\nstatus: partial\n---\n"),
        ],
        "execute 2",
    ),
    (
        "the same, after its verification passed",
        &[
            (
                "ROADMAP.md",
                "# Roadmap\n\n- [x] **Phase 1: Shelves**\n- [ ] **Phase 2: Loans**\n- [ ] **Phase 3: Returns**\n\n\
                 | Phase | Done | Status | Date |\n|---|---|---|---|\n| 2 - Loans | 1/1 | complete | 2026-03-04 |\n",
            ),
            ("phases/02-loans/02-01-SUMMARY.md", "---\nstatus: partial\n---\n"),
            ("phases/02-loans/02-VERIFICATION.md", "---\nresult: PASS\n---\n"),
        ],
        "plan 3",
    ),
    ("an empty summary", &[("phases/02-loans/02-01-SUMMARY.md", "\n")], "execute 2"),
    (
        "a summary with a blank status",
        &[("phases/02-loans/02-01-SUMMARY.md", "---\nstatus:\n---\n# Summary\n")],
        "execute 2",
    ),
    (
        "a summary that was not filled in",
        &[(
            "phases/02-loans/02-01-SUMMARY.md",
            "---\nplan: {plan-number}\nstatus: {complete|partial|failed}\n---\n",
        )],
        "execute 2",
    ),
    (
        "one of two plans of a remediation round",
        &[
            ("phases/02-loans/02-01-SUMMARY.md", DONE),
            ("phases/02-loans/remediation/qa/round-01/R01-01-PLAN.md", "# Plan\n"),
            ("phases/02-loans/remediation/qa/round-01/R01-01-SUMMARY.md", DONE),
            ("phases/02-loans/remediation/qa/round-01/R01-02-PLAN.md", "# Plan\n"),
        ],
        "remediate 2",
    ),
    (
        "a plan of a remediation round before it has VBW's name",
        &[
            ("phases/02-loans/02-01-SUMMARY.md", DONE),
            ("phases/02-loans/remediation/qa/round-01/PLAN-R01.md", "# Plan\n"),
        ],
        "remediate 2",
    ),
    (
        "the summary of a plan of a remediation round before it has VBW's name",
        &[
            ("phases/02-loans/02-01-SUMMARY.md", DONE),
            ("phases/02-loans/remediation/qa/round-01/PLAN-01.md", "# Plan\n"),
            ("phases/02-loans/remediation/qa/round-01/R01-SUMMARY.md", DONE),
        ],
        "plan 3",
    ),
    (
        "plans in a folder that is not read",
        &[("phases/02-loans/wave-1/02-01-PLAN.md", "# Plan\n")],
        "unknown",
    ),
    ("a phase's folder under another name", &[("phases/p2-loans/PLAN.md", "# Plan\n")], "unknown"),
    (
        "the word before the numbers of a folder and a file",
        &[("phases/phase2-loans/phase2-01-PLAN.md", "# Plan\n")],
        "execute 2",
    ),
    (
        "an open row with an id that is not read, after the last phase",
        &[(
            "ROADMAP.md",
            "# Roadmap\n\n| Phase | Name | Status |\n|---|---|---|\n| 1 | Shelves | Complete |\n\
             | LOAN-02 | Loans | Not started |\n| **Total** | 2 | In progress |\n",
        )],
        "unknown",
    ),
    ("a plan under another name", &[("phases/02-loans/wave1-PLAN.md", "# Plan\n")], "unknown"),
    (
        "a phase that is cancelled behind its name",
        &[(
            "ROADMAP.md",
            "# Roadmap\n\n- [x] **Phase 1: Shelves**\n- [ ] **Phase 2: Loans** — CANCELLED (see below)\n\
             - [ ] **Phase 3: Returns** - cancelled loans come back\n",
        )],
        "plan 3",
    ),
    (
        "a phase that another one supersedes",
        &[(
            "ROADMAP.md",
            "# Roadmap\n\n- [x] **Phase 1: Shelves**\n\
             - [ ] **Phase 2: Loans** — superseded by Phase 3\n- [ ] **Phase 3: Returns**\n",
        )],
        "plan 3",
    ),
    (
        "a description that begins with a word of that kind",
        &[(
            "ROADMAP.md",
            "# Roadmap\n\n- [x] **Phase 1: Shelves**\n- [ ] **Phase 2: Loans** - Abandoned-cart emails\n\
             - [ ] **Phase 3: Returns** - REMOVED columns are purged\n",
        )],
        "plan 2",
    ),
    ("a test plan", &[("phases/02-loans/TEST-PLAN.md", "# Plan\n")], "plan 2"),
    (
        "a replaced plan",
        &[("phases/02-loans/02-01-PLAN.md", "---\nreplaced_by: 03-01\n---\n")],
        "plan 3",
    ),
    (
        "counts of tasks in the body",
        &[("phases/02-loans/02-01-SUMMARY.md", "# Summary\n\n- **Tasks:** 2 of 4 completed\n")],
        "execute 2",
    ),
    (
        "a remediation round of another kind",
        &[
            ("phases/02-loans/02-01-SUMMARY.md", DONE),
            ("phases/02-loans/remediation/review/round-01/R01-PLAN.md", "# Plan\n"),
            ("config.json", "{\"auto_uat\": true}"),
        ],
        "remediate 2",
    ),
    (
        "a partial remediation round",
        &[
            ("phases/02-loans/02-01-SUMMARY.md", DONE),
            ("phases/02-loans/remediation/uat/round-01/R01-PLAN.md", "# Plan\n"),
            (
                "phases/02-loans/remediation/uat/round-01/R01-SUMMARY.md",
                "---\nstatus: partial\n---\n",
            ),
        ],
        "remediate 2",
    ),
    (
        "a plan in the folder of the rounds",
        &[
            ("phases/02-loans/02-01-SUMMARY.md", DONE),
            ("phases/02-loans/remediation/R01-PLAN.md", "# Plan\n"),
            ("phases/02-loans/remediation/R01-SUMMARY.md", DONE),
            ("phases/02-loans/remediation/R02-PLAN.md", "# Plan\n"),
        ],
        "remediate 2",
    ),
    (
        "folders of a milestone before, and the first phase of the next one",
        &[
            ("ROADMAP.md", "# Roadmap\n\n- [ ] **Phase 1: Fines**\n- [ ] **Phase 2: Letters**\n"),
            ("phases/02-loans/02-01-PLAN.md", "# Plan\n"),
            ("phases/02-loans/02-01-SUMMARY.md", DONE),
        ],
        "plan 1",
    ),
    (
        "a milestone's heading with a label",
        &[(
            "ROADMAP.md",
            "# Roadmap\n\n## Completed Milestones\n\n- ✅ v1.0 Base (Phases 1-3) — shipped 2026-01-02\n\n\
             ## Current Milestone: v1.1 Fines\n\n### Phase 1: Shelves\n\n### Phase 2: Fines\n",
        )],
        "plan 2",
    ),
    (
        "a failed plan that another replaces",
        &[
            ("phases/02-loans/02-01-PLAN.md", "---\nsuperseded_by: 02-02\n---\n# Plan\n"),
            ("phases/02-loans/02-01-SUMMARY.md", "---\nstatus: failed\n---\n"),
            ("phases/02-loans/02-02-PLAN.md", "# Plan\n"),
            ("phases/02-loans/02-02-SUMMARY.md", DONE),
        ],
        "plan 3",
    ),
    (
        "an open plan with a name that is not read",
        &[
            ("phases/02-loans/02-01-PLAN.md", "# Plan\n"),
            ("phases/02-loans/02-01-SUMMARY.md", DONE),
            ("phases/02-loans/02-GAP-PLAN.md", "# Plan\n"),
        ],
        "unknown",
    ),
    (
        "a verification in a round of user tests",
        &[
            ("phases/02-loans/02-01-SUMMARY.md", DONE),
            ("phases/02-loans/02-UAT.md", "---\nstatus: issues_found\n---\n"),
            ("phases/02-loans/remediation/uat/.uat-remediation-stage", "stage=verify\nround=01\n"),
            ("phases/02-loans/remediation/uat/round-01/R01-PLAN.md", "# Plan\n"),
            ("phases/02-loans/remediation/uat/round-01/R01-SUMMARY.md", DONE),
            (
                "phases/02-loans/remediation/uat/round-01/R01-VERIFICATION.md",
                "---\nresult: PASS\n---\n",
            ),
            ("config.json", "{\"auto_uat\": true}"),
        ],
        "verify 2",
    ),
    (
        "a user test that the stage file of its remediation wants repeated",
        &[
            ("STATE.md", "# State\n\nPhase: 2 of 3 (Loans)\nStatus: ready\n"),
            ("phases/02-loans/02-01-SUMMARY.md", DONE),
            ("phases/02-loans/02-UAT.md", "---\nstatus: issues_found\n---\n"),
            ("phases/02-loans/remediation/uat/.uat-remediation-stage", "stage=verify\nround=01\n"),
        ],
        "verify 2",
    ),
    (
        "a user test that the stage file of its remediation calls done",
        &[
            ("STATE.md", "# State\n\nPhase: 2 of 3 (Loans)\nStatus: ready\n"),
            ("phases/02-loans/02-01-SUMMARY.md", DONE),
            ("phases/02-loans/02-UAT.md", "---\nstatus: issues_found\n---\n"),
            ("phases/02-loans/remediation/uat/.uat-remediation-stage", "stage=done\nround=01\n"),
        ],
        "verify 2",
    ),
    (
        "the same, after STATE.md has moved on",
        &[
            ("STATE.md", "# State\n\nPhase: 3 of 3 (Returns)\nStatus: ready\n"),
            ("phases/02-loans/02-01-SUMMARY.md", DONE),
            ("phases/02-loans/02-UAT.md", "---\nstatus: issues_found\n---\n"),
            ("phases/02-loans/remediation/uat/.uat-remediation-stage", "stage=verify\nround=01\n"),
        ],
        "plan 3",
    ),
    (
        "a user test with issues, while STATE.md names the next phase, which has no plan",
        &[
            ("STATE.md", "# State\n\nPhase: 3 of 3 (Returns)\nStatus: Ready to plan\n"),
            ("phases/02-loans/02-01-PLAN.md", "# Plan\n"),
            ("phases/02-loans/02-01-SUMMARY.md", DONE),
            ("phases/02-loans/02-UAT.md", "---\nstatus: issues_found\n---\n"),
        ],
        "remediate 2",
    ),
    (
        "a user test that goes on with a failure",
        &[
            ("phases/02-loans/02-01-SUMMARY.md", DONE),
            ("phases/02-loans/02-UAT.md", "---\nstatus: partial\nfailed: 1\n---\n"),
            ("config.json", "{\"auto_uat\": true}"),
        ],
        "verify 2",
    ),
    (
        "a label of more plans than there are files",
        &[
            (
                "ROADMAP.md",
                "# Roadmap\n\n- [x] **Phase 1: Shelves**\n- [ ] **Phase 2: Loans**\n\n\
                 ### Phase 2: Loans\n\n**Plans:** 3 plans\n",
            ),
            ("phases/02-loans/02-01-PLAN.md", "# Plan\n"),
            ("phases/02-loans/02-01-SUMMARY.md", DONE),
        ],
        "execute 2",
    ),
    (
        "finished phases with other names than the roadmap's, of which one is ticked",
        &[
            (
                "ROADMAP.md",
                "# Roadmap\n\n- [x] **Phase 1: Regale**\n- [ ] **Phase 2: Ausleihe**\n- [ ] **Phase 3: Mahnungen**\n",
            ),
            ("phases/02-loans/02-01-PLAN.md", "# Plan\n"),
            ("phases/02-loans/02-01-SUMMARY.md", DONE),
        ],
        "plan 3",
    ),
    (
        "a phase's folder that was put away",
        &[
            ("phases/_02-loans/02-01-PLAN.md", "# Plan\n"),
            ("phases/_02-loans/02-01-SUMMARY.md", DONE),
        ],
        "unknown",
    ),
    ("a note about a plan", &[("phases/02-loans/plan-phase-2-notes.md", "# Notes\n")], "plan 2"),
    ("a hidden plan", &[("phases/02-loans/.02-01.plan.jsonl", "{}\n")], "plan 2"),
    (
        "a summary of research in an inserted phase",
        &[
            (
                "ROADMAP.md",
                "# Roadmap\n\n- [x] **Phase 1: Shelves**\n- [ ] **Phase 1.1: Labels**\n- [ ] **Phase 2: Loans**\n",
            ),
            ("phases/01.1-labels/01.1-01-PLAN.md", "# Plan\n"),
            ("phases/01.1-labels/01.1-RESEARCH-SUMMARY.md", "# Research\n"),
        ],
        "execute 1.1",
    ),
    (
        "a phase of a milestone that was inserted",
        &[
            (
                "ROADMAP.md",
                "# Roadmap\n\n- [x] **Phase 2-01: Shelves**\n- [x] **Phase 2-02: Loans**\n\
                 - [ ] **Phase 2-02-01: Fines**\n- [ ] **Phase 2-03: Returns**\n",
            ),
            ("phases/02-02-01-fines/02-02-01-01-PLAN.md", "# Plan\n"),
        ],
        "execute 2-02-01",
    ),
    (
        "a phase with a letter in front between others",
        &[
            ("ROADMAP.md", "# Roadmap\n\n- [x] **Phase 1: Shelves**\n- [ ] **Phase B7: Fines**\n"),
            ("phases/B7-fines/B7-01-PLAN.md", "# Plan\n"),
        ],
        "execute B7",
    ),
    (
        "plans listed by their files and by their titles",
        &[
            (
                "ROADMAP.md",
                "# Roadmap\n\n- [x] **Phase 1: Shelves**\n- [ ] **Phase 2: Loans**\n- [ ] **Phase 3: Returns**\n\n\
                 ### Phase 2: Loans\n\nPlans:\n\n- [x] 02-01-PLAN.md\n- [ ] 02-01: Cards\n",
            ),
            ("phases/02-loans/02-01-PLAN.md", "# Plan\n"),
            ("phases/02-loans/02-01-SUMMARY.md", DONE),
        ],
        "plan 3",
    ),
    (
        "the phase's number before the kind, and words behind the plan's",
        &[("phases/02-loans/2-PLAN-01-cards.md", "# Plan\n")],
        "execute 2",
    ),
    (
        "a second plan with the number of another",
        &[
            ("phases/02-loans/02-PLAN.md", "# Plan\n"),
            ("phases/02-loans/02-SUMMARY.md", DONE),
            ("phases/02-loans/02-GAP-PLAN.md", "# Plan\n"),
        ],
        "execute 2",
    ),
    (
        "a phase without files whose box is ticked and whose row is not",
        &[
            (
                "ROADMAP.md",
                "# Roadmap\n\n- [x] **Phase 1: Shelves**\n- [x] **Phase 2: Loans**\n- [ ] **Phase 3: Returns**\n\n\
                 | Phase | Plans | Status |\n|---|---|---|\n| 2. Loans | 0/2 | Not started |\n",
            ),
            ("STATE.md", "# State\n\nPhase: 2 of 3 (Loans)\nStatus: Phase 1 complete\n"),
        ],
        "plan 2, or plan 3",
    ),
    (
        "a title that ends with the word for partial",
        &[("phases/02-loans/02-01-SUMMARY.md", "# Plan 02-01 Summary: PARTIAL\n")],
        "execute 2",
    ),
    (
        "a partial result in the front matter",
        &[("phases/02-loans/02-01-SUMMARY.md", "---\nresult: partial\n---\n# Summary\n")],
        "execute 2",
    ),
    (
        "a partial result in the body",
        &[("phases/02-loans/02-01-SUMMARY.md", "# Summary\n\n**Outcome:** Partial\n")],
        "execute 2",
    ),
    (
        "a self-check that failed, as GSD words it",
        &[(
            "phases/02-loans/02-01-SUMMARY.md",
            "# Summary\n\n## Self-Check: FAILED\n\n- MISSING: a.ts\n",
        )],
        "execute 2",
    ),
    (
        "a self-check that passed at last, and a test that was to fail first",
        &[(
            "phases/02-loans/02-01-SUMMARY.md",
            "# Summary\n\n### RED\n\n- Result: FAILED\n\n## Self-Check: FAILED\n\n## Self-Check: PASSED\n",
        )],
        "plan 3",
    ),
    (
        "an open plan of the phase that STATE.md names, with a later phase finished",
        &[
            ("STATE.md", "# State\n\nPhase: 2 of 3 (Loans)\nStatus: In progress\n"),
            ("phases/02-loans/02-01-SUMMARY.md", DONE),
            ("phases/02-loans/02-02-PLAN.md", "# Plan\n"),
            ("phases/03-returns/03-01-SUMMARY.md", DONE),
        ],
        "execute 2",
    ),
    (
        "a failed plan of the phase that STATE.md names, with a later phase finished",
        &[
            (
                "ROADMAP.md",
                "# Roadmap\n\n- [x] **Phase 1: Shelves**\n- [ ] **Phase 2: Loans**\n- [ ] **Phase 3: Returns**\n\
                 - [ ] **Phase 4: Fees**\n",
            ),
            ("STATE.md", "# State\n\nPhase: 2 of 4 (Loans)\nStatus: In progress\n"),
            ("phases/02-loans/02-01-SUMMARY.md", "---\nstatus: failed\n---\n"),
            ("phases/02-loans/02-01-PLAN.md", "# Plan\n"),
            ("phases/03-returns/03-01-PLAN.md", "# Plan\n"),
            ("phases/03-returns/03-01-SUMMARY.md", DONE),
        ],
        "plan 4, or execute 2",
    ),
    (
        "a user test with a blank status, and the result of its first test",
        &[
            ("STATE.md", "# State\n\nPhase: 1 of 3 (Shelves)\nStatus: needs_verification\n"),
            (
                "phases/01-shelves/01-UAT.md",
                "---\nphase: 01\nstatus:\n---\n\n### P01-T01: Load\n\n- **Result:** pass\n",
            ),
        ],
        "verify 1",
    ),
    (
        "numbers that begin anew, and a dropped plan in a folder of the milestone before",
        &[
            (
                "ROADMAP.md",
                "# Roadmap\n\n## Milestones\n\n- ✅ **v1.0 Desk** — Phases 1-2 (shipped 2026-01-02)\n- 🚧 **v2.0 Van** — Phases 1-2\n\n\
                 ## Phases\n\n- [ ] **Phase 1: Route**\n- [ ] **Phase 2: Fuel**\n",
            ),
            ("phases/01-shelves/01-02-PLAN.md", "---\nstatus: superseded\n---\n"),
            ("phases/02-loans/02-01-SUMMARY.md", DONE),
            ("phases/02-loans/02-02-PLAN.md", "# Plan\n"),
        ],
        "plan 1",
    ),
    (
        "a result in other words",
        &[("phases/02-loans/02-01-SUMMARY.md", "# Summary\n\n**Result:** Loans go out\n")],
        "plan 3",
    ),
    (
        "a partial plan in another language",
        &[("phases/02-loans/02-01-SUMMARY.md", "# Résumé\n\n**Statut :** partiel\n")],
        "execute 2",
    ),
    (
        "a symbol before the label of a status",
        &[("phases/02-loans/02-01-SUMMARY.md", "# Summary\n\n- ⚠️ **Status**: Partial\n")],
        "execute 2",
    ),
    (
        "open tasks in a table",
        &[("phases/02-loans/02-01-SUMMARY.md", "# Summary\n\n| Tasks | 3/5 |\n|---|---|\n")],
        "execute 2",
    ),
    (
        "open tasks after another label",
        &[("phases/02-loans/02-01-SUMMARY.md", "# Summary\n\n**Progress:** 3/5 tasks\n")],
        "execute 2",
    ),
    (
        "a plan with a plain number in the phase's folder of plans",
        &[("phases/02-loans/plans/01.md", "# Cards\n")],
        "unknown",
    ),
    (
        "a plan that only its front matter calls so",
        &[("phases/02-loans/01-cards.md", "---\nphase: 2\nplan: 1\n---\n# Cards\n")],
        "unknown",
    ),
    (
        "notes with a number in front",
        &[("phases/02-loans/02-cards.md", "# Thoughts on the cards\n")],
        "plan 2",
    ),
    (
        "a plan that is not needed",
        &[("phases/02-loans/02-01-PLAN.md", "---\nstatus: not-needed\n---\n")],
        "plan 3",
    ),
    (
        "a phase whose heading ends with a word in square brackets",
        &[
            (
                "ROADMAP.md",
                "# Roadmap\n\n- [x] **Phase 1: Shelves**\n- [ ] **Phase 2: Loans**\n- [ ] **Phase 3: Returns**\n\n\
                 ### Phase 2: Loans [CANCELLED]\n",
            ),
            ("phases/02-loans/02-01-PLAN.md", "# Plan\n"),
        ],
        "plan 3",
    ),
    (
        "a delivered milestone whose numbers begin anew",
        &[
            (
                "ROADMAP.md",
                "# Roadmap\n\n## Milestones\n\n- **v1.0 Desk** (Phases 1-4) — delivered\n- **v2.0 Web** (Phases 1-3) — in progress\n\n\
                 ## Phases\n\n- [x] **Phase 1: Shelves**\n- [ ] **Phase 2: Loans**\n- [ ] **Phase 3: Returns**\n",
            ),
            ("milestones/v1.0-phases/04-desk/04-01-PLAN.md", "# Plan\n"),
            ("milestones/v1.0-phases/04-desk/04-01-SUMMARY.md", DONE),
        ],
        "plan 2",
    ),
    (
        "the same with the status below the milestone's name",
        &[
            (
                "ROADMAP.md",
                "# Roadmap\n\n## Milestones\n\n- v1.0 Desk\n  - Status: shipped 2026-01-02\n  - Phases: 1-4\n\
                 - v2.0 Web\n  - Status: in progress\n  - Phases: 1-3\n\n\
                 ## Phases\n\n- [x] **Phase 1: Shelves**\n- [ ] **Phase 2: Loans**\n- [ ] **Phase 3: Returns**\n",
            ),
            ("milestones/v1.0-phases/04-desk/04-01-PLAN.md", "# Plan\n"),
            ("milestones/v1.0-phases/04-desk/04-01-SUMMARY.md", DONE),
        ],
        "plan 2",
    ),
    (
        "a word in brackets behind a phase's name",
        &[(
            "ROADMAP.md",
            "# Roadmap\n\n- [x] **Phase 1: Shelves**\n- [ ] **Phase 2: Loans** [CANCELLED]\n- [ ] **Phase 3: Returns**\n",
        )],
        "plan 3",
    ),
    (
        "a link behind a phase's name",
        &[(
            "ROADMAP.md",
            "# Roadmap\n\n- [x] **Phase 1: Shelves**\n- [ ] **Phase 2: Loans** [Cancelled orders](x.md)\n",
        )],
        "plan 2",
    ),
    (
        "a word in brackets in a phase's description",
        &[(
            "ROADMAP.md",
            "# Roadmap\n\n- [x] **Phase 1: Shelves**\n- [ ] **Phase 2: Loans** - show [cancelled] loans, drop [removed](x.md)\n",
        )],
        "plan 2",
    ),
    (
        "a remark in square brackets within the status of a phase",
        &[(
            "ROADMAP.md",
            "# Roadmap\n\n- [x] **Phase 1: Shelves**\n- [ ] **Phase 2: Loans (deferred [D-3])**\n- [ ] **Phase 3: Returns**\n",
        )],
        "plan 3",
    ),
    (
        "a milestone whose name has a word for what is over",
        &[(
            "ROADMAP.md",
            "# Roadmap\n\n## Milestones\n\n- **v1.0 Desk** (Phases 1-2) — live collaboration\n\
                 - **v2.0 Web** (Phases 3-3) — in progress\n\n\
                 ## Phases\n\n- [x] **Phase 1: Shelves**\n- [ ] **Phase 2: Loans**\n- [ ] **Phase 3: Returns**\n",
        )],
        "plan 2",
    ),
    (
        "a milestone that is not yet shipped",
        &[
            (
                "ROADMAP.md",
                "# Roadmap\n\n## Milestones\n\n- 🚧 **v1.0 Desk** (Phases 1-3)\n\n\
                 ## Phases\n\n- [x] **Phase 1: Shelves**\n- [ ] **Phase 2: Loans**\n- [ ] **Phase 3: Returns**\n",
            ),
            ("MILESTONES.md", "# Milestones\n\n## v1.0 Desk (not yet shipped)\n"),
        ],
        "plan 2",
    ),
    (
        "a status of a plan that moves it to another state",
        &[("phases/02-loans/02-01-PLAN.md", "---\nstatus: moved to review\n---\n")],
        "execute 2",
    ),
    (
        "a finished plan in another language",
        &[("phases/02-loans/02-01-SUMMARY.md", "# Summary\n\n**Estado:** hecho\n")],
        "plan 3",
    ),
    (
        "a page about plans in their folder",
        &[("phases/02-loans/plans/README.md", "# What belongs here\n")],
        "plan 2",
    ),
    (
        "a date in the column of plans",
        &[
            (
                "ROADMAP.md",
                "# Roadmap\n\n- [x] **Phase 1: Shelves**\n- [ ] **Phase 2: Loans**\n- [ ] **Phase 3: Returns**\n\n\
                 | Phase | Plans Complete | Status |\n|---|---|---|\n| 2. Loans | 3/4/2026 | |\n",
            ),
            ("phases/02-loans/02-01-PLAN.md", "# Plan\n"),
            ("phases/02-loans/02-01-SUMMARY.md", DONE),
        ],
        "plan 3",
    ),
    (
        "two plans of one number with titles of their own",
        &[
            (
                "ROADMAP.md",
                "# Roadmap\n\n- [x] **Phase 1: Shelves**\n- [ ] **Phase 2: Loans**\n- [ ] **Phase 3: Returns**\n\n\
                 ### Phase 2: Loans\n\nPlans:\n\n- [x] 02-01-PLAN.md \u{2014} cards\n- [ ] 02-01: cards for readers\n",
            ),
            ("phases/02-loans/02-01-PLAN.md", "# Plan\n"),
            ("phases/02-loans/02-01-SUMMARY.md", DONE),
        ],
        "execute 2",
    ),
    (
        "a status in brackets before a name",
        &[(
            "ROADMAP.md",
            "# Roadmap\n\n- [x] **Phase 1: Shelves**\n- [ ] **Phase 2 (v2 \u{2014} dropped): Loans**\n\
             - [ ] **Phase 3: Returns**\n",
        )],
        "plan 3",
    ),
    (
        "plans in a hidden folder of a phase",
        &[
            ("ROADMAP.md", "# Roadmap\n\n- [x] **Phase 1: Shelves**\n- [ ] **Phase 2: Loans**\n"),
            ("phases/01-shelves/01-01-PLAN.md", "# Plan\n"),
            ("phases/01-shelves/01-01-SUMMARY.md", DONE),
            ("phases/01-shelves/.old/01-02-PLAN.md", "# Plan\n"),
            ("phases/02-loans/.old/02-01-PLAN.md", "# Plan\n"),
        ],
        "plan 2",
    ),
    (
        "a milestone that the status calls shipped, without a field for it",
        &[
            (
                "ROADMAP.md",
                "# Roadmap\n\n## v1.0 Desk\n\n- [x] **Phase 1: Shelves**\n\n## v1.1 Web\n\n- [ ] **Phase 2: Loans**\n",
            ),
            (
                "STATE.md",
                "# State\n\nPhase: 1 of 2 (Shelves)\nStatus: v1.0 shipped, v1.1 is next\n",
            ),
            ("phases/01-shelves/01-01-PLAN.md", "# Plan\n"),
            ("phases/01-shelves/01-01-SUMMARY.md", DONE),
        ],
        "plan 2",
    ),
    (
        "a template that was not filled in",
        &[(
            "ROADMAP.md",
            "# {Project Name} Roadmap\n\n- [ ] Phase 1: {name}\n- [ ] Phase 2: {name}\n\n### Phase 1: {Name}\n\n\
             | Phase | Done | Status |\n|---|---|---|\n| 2 - {name} | {0}/{N} | {pending/active} |\n",
        )],
        "ship",
    ),
    (
        "a position that the tool's repair left open",
        &[
            ("ROADMAP.md", "# Roadmap\n\n- [x] **Phase 1: Shelves**\n"),
            ("STATE.md", "# State\n\n## Position\n\n**Current phase:** (determining...)\n"),
        ],
        "ship",
    ),
    (
        "a report of issues in the round that its stage file calls done",
        &[
            ("phases/02-loans/02-01-SUMMARY.md", DONE),
            ("phases/02-loans/remediation/uat/.uat-remediation-stage", "stage=done\nround=01\n"),
            (
                "phases/02-loans/remediation/uat/round-01/R01-UAT.md",
                "---\nstatus: issues_found\n---\n",
            ),
        ],
        "remediate 2",
    ),
    (
        "a round of user tests where older versions kept it",
        &[
            ("phases/02-loans/02-01-SUMMARY.md", DONE),
            ("phases/02-loans/02-UAT.md", "---\nstatus: issues_found\n---\n"),
            ("phases/02-loans/remediation/.uat-remediation-stage", "stage=done\nround=01\n"),
            ("phases/02-loans/remediation/round-01/R01-UAT.md", "---\nstatus: complete\n---\n"),
        ],
        "plan 3",
    ),
    (
        "a round of quality assurance under way, while STATE.md names the next phase",
        &[
            ("STATE.md", "# State\n\nPhase: 3 of 3 (Returns)\nStatus: ready\n"),
            ("phases/02-loans/02-01-SUMMARY.md", DONE),
            ("phases/02-loans/02-VERIFICATION.md", "---\nresult: FAIL\n---\n"),
            ("phases/02-loans/remediation/qa/.qa-remediation-stage", "stage=execute\nround=01\n"),
        ],
        "remediate 2",
    ),
    (
        "a round of quality assurance that is to be verified, while STATE.md names the next phase",
        &[
            ("STATE.md", "# State\n\nPhase: 3 of 3 (Returns)\nStatus: ready\n"),
            ("phases/02-loans/02-01-SUMMARY.md", DONE),
            ("phases/02-loans/02-VERIFICATION.md", "---\nresult: FAIL\n---\n"),
            ("phases/02-loans/remediation/qa/.qa-remediation-stage", "stage=verify\nround=01\n"),
        ],
        "remediate 2",
    ),
    (
        "a round of quality assurance under way after the user tests passed",
        &[
            ("phases/02-loans/02-01-SUMMARY.md", DONE),
            ("phases/02-loans/02-VERIFICATION.md", "---\nresult: FAIL\n---\n"),
            ("phases/02-loans/02-UAT.md", "---\nstatus: complete\n---\n"),
            ("phases/02-loans/remediation/qa/.qa-remediation-stage", "stage=execute\nround=02\n"),
        ],
        "remediate 2",
    ),
    (
        "a user test with issues in the phase to which STATE.md is set back",
        &[
            ("STATE.md", "# State\n\nPhase: 1 of 3 (Shelves)\nStatus: needs_remediation\n"),
            ("phases/01-shelves/01-UAT.md", "---\nstatus: issues_found\n---\n"),
            ("phases/02-loans/02-01-PLAN.md", "# Plan\n"),
            ("phases/02-loans/02-01-SUMMARY.md", DONE),
        ],
        "remediate 1",
    ),
    (
        "a user test that goes on in the phase for which STATE.md wants one",
        &[
            ("STATE.md", "# State\n\nPhase: 2 of 3 (Loans)\nStatus: needs_verification\n"),
            ("phases/02-loans/02-01-SUMMARY.md", DONE),
            ("phases/02-loans/02-UAT.md", "---\nstatus: in_progress\n---\n"),
        ],
        "verify 2",
    ),
    (
        "a status of a summary's body that is not known",
        &[("phases/02-loans/02-01-SUMMARY.md", "# Summary\n\n**Status:** 3 of 4 tasks complete\n")],
        "execute 2",
    ),
    (
        "a status of a summary's body that names what is complete",
        &[(
            "phases/02-loans/02-01-SUMMARY.md",
            "# Summary\n\n**Status:** UAT complete 2026-04-26\n",
        )],
        "plan 3",
    ),
    (
        "open tasks in a summary's body",
        &[("phases/02-loans/02-01-SUMMARY.md", "# Summary\n\n- **Tasks:** 2/5\n")],
        "execute 2",
    ),
    (
        "a table in a summary with the word in its head",
        &[(
            "phases/02-loans/02-01-SUMMARY.md",
            "# Summary\n\n| Status | Test |\n|---|---|\n| ok | loans |\n",
        )],
        "plan 3",
    ),
    (
        "a phase whose name begins with a number and a letter",
        &[
            (
                "ROADMAP.md",
                "# Roadmap\n\n- [x] **Phase 1: Shelves**\n- [ ] **Phase 2: 10x loans**\n",
            ),
            ("STATE.md", "# State\n\nPhase: 2 (10x loans)\nStatus: Ready to plan\n"),
        ],
        "plan 2",
    ),
    (
        "GSD's number of plans in the phase",
        &[
            (
                "STATE.md",
                "# State\n\n**Current Phase:** 2\n**Current Plan:** 2\n**Total Plans in Phase:** 3\n\
                 **Status:** In progress\n",
            ),
            ("phases/02-loans/02-01-SUMMARY.md", DONE),
        ],
        "execute 2",
    ),
    (
        "tests that passed in other words",
        &[
            ("phases/02-loans/02-01-SUMMARY.md", DONE),
            ("phases/02-loans/02-UAT.md", "---\nstatus: all_tests_passed\n---\n"),
            ("config.json", "{\"auto_uat\": true}"),
        ],
        "plan 3",
    ),
    (
        "tests that passed, counted",
        &[
            ("phases/02-loans/02-01-SUMMARY.md", DONE),
            ("phases/02-loans/02-UAT.md", "---\nstatus: 5/5 passed\n---\n"),
            ("config.json", "{\"auto_uat\": true}"),
        ],
        "plan 3",
    ),
    (
        "a superseded plan in the phase's list",
        &[
            (
                "ROADMAP.md",
                "# Roadmap\n\n- [x] **Phase 1: Shelves**\n- [ ] **Phase 2: Loans**\n- [ ] **Phase 3: Returns**\n\n\
                 ### Phase 2: Loans\n\nPlans:\n- [ ] 02-01-PLAN.md — cards (superseded by 02-02)\n- [x] 02-02-PLAN.md — desk\n",
            ),
            ("phases/02-loans/02-01-PLAN.md", "# Plan\n"),
            ("phases/02-loans/02-02-PLAN.md", "# Plan\n"),
            ("phases/02-loans/02-02-SUMMARY.md", DONE),
        ],
        "plan 3",
    ),
    (
        "a plan whose body calls it superseded",
        &[
            ("phases/02-loans/02-01-PLAN.md", "# Plan\n\n> **Status:** SUPERSEDED by 02-02\n"),
            ("phases/02-loans/02-02-PLAN.md", "# Plan\n"),
            ("phases/02-loans/02-02-SUMMARY.md", DONE),
        ],
        "plan 3",
    ),
    (
        "plans of a remediation round without its number",
        &[
            ("ROADMAP.md", "# Roadmap\n\n- [x] **Phase 1: Shelves**\n"),
            ("phases/01-shelves/remediation/qa/round-01/PLAN.md", "# Plan\n"),
        ],
        "remediate 1",
    ),
    (
        "a phase in the section of its focus",
        &[
            ("STATE.md", "# State\n\n## Current Focus\n\nPhase 3: Returns\n"),
            ("phases/02-loans/02-01-PLAN.md", "# Plan\n"),
            ("phases/03-returns/03-01-PLAN.md", "# Plan\n"),
        ],
        "execute 3",
    ),
    (
        "a folder with a number in its name, and plans that name no phase",
        &[("phases/02-12-loans/PLAN-01.md", "# Plan\n")],
        "execute 2",
    ),
    (
        "finished folders of the milestone before, also beyond the last phase",
        &[
            ("ROADMAP.md", "# Roadmap\n\n- [ ] **Phase 1: Fines**\n- [ ] **Phase 2: Letters**\n"),
            ("STATE.md", "# State\n\nPhase: 1 of 2 (Fines)\nStatus: Ready to plan\n"),
            ("phases/02-loans/02-01-SUMMARY.md", DONE),
            ("phases/03-returns/03-01-SUMMARY.md", DONE),
        ],
        "plan 1",
    ),
    (
        "a name with an umlaut, and the folder of the milestone before",
        &[
            ("ROADMAP.md", "# Roadmap\n\n- [x] **Phase 1: Regale**\n- [ ] **Phase 2: Rückgabe**\n"),
            ("STATE.md", "# State\n\nPhase: 2 of 2 (Rückgabe)\nStatus: Ready to plan\n"),
            ("phases/01-regale/01-01-SUMMARY.md", DONE),
            ("phases/02-loans/02-01-SUMMARY.md", DONE),
        ],
        "plan 2",
    ),
    (
        "a name with an umlaut, and its own folder",
        &[
            ("ROADMAP.md", "# Roadmap\n\n- [x] **Phase 1: Regale**\n- [ ] **Phase 2: Rückgabe**\n"),
            ("phases/02-rueckgabe/02-01-PLAN.md", "# Plan\n"),
        ],
        "execute 2",
    ),
    (
        "a milestone that is called complete before another begins its numbers anew",
        &[
            (
                "ROADMAP.md",
                "# Roadmap\n\n## v1.0 Desk ✅\n\n### Phase 1: Door ✅\n### Phase 2: Lamp ✅\n\n\
                 ## v2.0 Tools 🚧\n\n### Phase 1: Shelves ✅\n### Phase 2: Loans\n",
            ),
            ("phases/02-loans/02-01-PLAN.md", "# Plan\n"),
        ],
        "execute 2",
    ),
    (
        "a phase in the section of the milestones",
        &[(
            "ROADMAP.md",
            "# Roadmap\n\n## Milestones\n\n- [x] Phase 1: Shelves\n- [ ] Phase 2: Loans\n",
        )],
        "plan 2",
    ),
    (
        "a check that is called passed with an exception",
        &[
            ("phases/02-loans/02-01-SUMMARY.md", DONE),
            ("phases/02-loans/02-UAT.md", "---\nstatus: passed, except refunds\n---\n"),
            ("config.json", "{\"auto_uat\": true}"),
        ],
        "verify 2",
    ),
    (
        "a check of which some parts passed",
        &[
            ("phases/02-loans/02-01-SUMMARY.md", DONE),
            ("phases/02-loans/02-UAT.md", "---\nstatus: passed 1 of 5\n---\n"),
            ("config.json", "{\"auto_uat\": true}"),
        ],
        "verify 2",
    ),
    (
        "a check that passed with notes and no failures",
        &[
            ("phases/02-loans/02-01-SUMMARY.md", DONE),
            ("phases/02-loans/02-UAT.md", "---\nstatus: passed with notes, no failures\n---\n"),
            ("config.json", "{\"auto_uat\": true}"),
        ],
        "plan 3",
    ),
    (
        "a plan that a field calls superseded",
        &[("phases/02-loans/02-01-PLAN.md", "---\nsuperseded: true\n---\n")],
        "plan 3",
    ),
    (
        "a plan that its first line calls superseded",
        &[
            ("phases/02-loans/02-01-PLAN.md", "# Plan\n\n> **SUPERSEDED** by 02-02\n"),
            ("phases/02-loans/02-02-SUMMARY.md", DONE),
        ],
        "plan 3",
    ),
    (
        "a plan whose first line begins with such a word",
        &[("phases/02-loans/02-01-PLAN.md", "# Plan\n\nRemoved the old form.\n")],
        "execute 2",
    ),
    (
        "a summary that its title calls partial",
        &[("phases/02-loans/02-01-SUMMARY.md", "# Cards Summary (PARTIAL)\n")],
        "execute 2",
    ),
    (
        "an old remediation round whose user test passed",
        &[
            ("ROADMAP.md", "# Roadmap\n\n- [x] **Phase 1: Shelves**\n"),
            ("phases/01-shelves/01-UAT.md", "---\nstatus: issues_found\n---\n"),
            ("phases/01-shelves/remediation/round-01/R01-PLAN.md", "# Plan\n"),
            ("phases/01-shelves/remediation/round-01/R01-SUMMARY.md", DONE),
            ("phases/01-shelves/remediation/round-01/R01-UAT.md", "---\nstatus: complete\n---\n"),
        ],
        "ship",
    ),
];

#[test]
fn other_forms_of_the_same_are_read_alike() {
    let mut wrong = Vec::new();
    for (what, files, expected) in ROWS {
        let case = Case::empty();
        let base = [
            ("ROADMAP.md", ROADMAP),
            ("phases/01-shelves/01-01-PLAN.md", "# Plan\n"),
            ("phases/01-shelves/01-01-SUMMARY.md", DONE),
        ];
        for (file, text) in base.iter().chain(*files) {
            case.write(&format!(".vbw-planning/{file}"), text);
        }
        let answer = Answer::ask(&case);
        let said = if expected.contains(", or ") { answer.whole() } else { answer.said() };
        if said != *expected {
            wrong.push(format!("{what}: {said}, not {expected}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn a_phase_that_was_passed_over_is_named() {
    let case = Case::empty();
    case.write(".planning/ROADMAP.md", ROADMAP);
    case.write(".planning/phases/01-shelves/01-01-PLAN.md", "# Plan\n");
    case.write(".planning/phases/01-shelves/01-01-SUMMARY.md", DONE);
    case.write(".planning/phases/03-returns/03-01-PLAN.md", "# Plan\n");
    let status = case.run("status").success().stdout();
    assert!(status.contains("Next:       /gsd:execute-phase 3\n"), "{status}");
    assert!(status.contains("Or:         /gsd:plan-phase 2\n"), "{status}");
}

#[test]
fn a_roadmap_of_which_no_phase_is_read_is_not_the_end_of_a_milestone() {
    for roadmap in ["## Phases\n\n1. **Base**\n2. **Shelf**\n", "### 1. Base\n\n### 2. Shelf\n"] {
        let case = Case::empty();
        case.write(".planning/ROADMAP.md", format!("# Roadmap\n\n{roadmap}"));
        let state =
            "# State\n\n## Current Position\n\nPhase: 1 of 2 (Base)\nStatus: Ready to plan\n";
        case.write(".planning/STATE.md", state);
        assert_eq!(Answer::ask(&case).said(), "unknown", "{roadmap}");
        case.run("plan").code(4);
    }
}

#[test]
fn plans_in_a_folder_beside_those_of_the_phases_are_named() {
    let case = Case::empty();
    case.write(".planning/ROADMAP.md", ROADMAP);
    case.write(".planning/phases/01-shelves/01-01-PLAN.md", "# Plan\n");
    case.write(".planning/phases/01-shelves/01-01-SUMMARY.md", DONE);
    case.write(".planning/v2/02-loans/02-01-PLAN.md", "# Plan\n");
    let status = case.run("status").success();
    let warning =
        "warning: .planning/v2: not read: contains plans, but phases are not looked for here\n";
    assert_eq!(status.stderr(), warning);
    assert!(status.stdout().contains("Next:       /gsd:plan-phase 2\n"), "{}", status.stdout());
}

#[test]
fn a_user_test_without_a_result_is_not_called_missing() {
    let case = Case::empty();
    case.write(".vbw-planning/config.json", "{\"auto_uat\": true}");
    case.write(".vbw-planning/ROADMAP.md", "# Roadmap\n\n- [x] **Phase 1: Shelves**\n");
    for (file, text) in [
        ("01-01-PLAN.md", "# Plan\n"),
        ("01-01-SUMMARY.md", DONE),
        ("01-UAT.md", "# UAT\n\nAll went well.\n"),
    ] {
        case.write(&format!(".vbw-planning/phases/01-shelves/{file}"), text);
    }
    let because = ".vbw-planning/config.json: auto_uat, and no user test of phase 1 has a result\n";
    let status = case.run("status").success();
    assert!(status.stdout().contains(because), "{}", status.stdout());
}

#[test]
fn a_config_that_is_no_json_is_named() {
    let case = Case::empty();
    case.write(".vbw-planning/ROADMAP.md", "# Roadmap\n\n- [x] **Phase 1: Shelves**\n");
    case.write(".vbw-planning/phases/01-shelves/01-01-SUMMARY.md", DONE);
    case.write(".vbw-planning/config.json", "{\n  // tests\n  \"auto_uat\": true\n}\n");
    let warning =
        "warning: .vbw-planning/config.json:2: not read: key must be a string at line 2 column 3\n";
    assert_eq!(case.run("status").success().stderr(), warning);
    assert_eq!(Answer::ask(&case).said(), "ship");
    case.write(".vbw-planning/config.json", "\u{feff}{\"auto_uat\": true}");
    assert_eq!(case.run("status").success().stderr(), "");
    assert_eq!(Answer::ask(&case).said(), "verify 1");
}

#[test]
fn a_check_with_an_unknown_result_is_open() {
    let case = Case::empty();
    case.write(".vbw-planning/ROADMAP.md", "# Roadmap\n\n- [x] **Phase 1: Shelves**\n");
    for (file, text) in [
        ("01-01-PLAN.md", "# Plan\n"),
        ("01-01-SUMMARY.md", DONE),
        ("01-UAT.md", "---\nstatus: quibbled\n---\n"),
    ] {
        case.write(&format!(".vbw-planning/phases/01-shelves/{file}"), text);
    }
    case.run("ship").code(4);
}

#[test]
fn a_milestone_has_shipped_if_a_label_or_a_list_says_so() {
    for page in [
        "# Milestones\n\n## v1.0 Base (Shipped: 2026-01-02)\n",
        "# Milestones\n\n## v1.0 Base\n\n**Shipped:** 2026-01-02\n",
        "# Milestones\n\n- v1.0 Base - shipped 2026-01-02\n- v1.1 Loans, on what shipped\n",
    ] {
        let case = Case::empty();
        case.write(".planning/MILESTONES.md", page);
        case.write(".planning/ROADMAP.md", "# Roadmap: v1.1 Loans\n\n- [ ] **Phase 2: Loans**\n");
        case.write(".planning/STATE.md", "---\nmilestone: v1.0\n---\n# State\n\nPhase: 2 of 2\n");
        case.write(".planning/phases/02-loans/02-01-PLAN.md", "# Plan\n");
        case.write(".planning/phases/02-loans/02-01-SUMMARY.md", DONE);
        assert_eq!(Answer::ask(&case).said(), "ship", "{page}");
    }
}

#[test]
fn the_milestone_is_the_one_around_the_current_phase() {
    let case = Case::empty();
    let roadmap = "# Roadmap\n\n## M001: Base\n\n- [x] **Phase 1: Shelves**\n\n\
                   ## M002: Loans\n\n- [ ] **Phase 2: Loans**\n";
    case.write(".planning/ROADMAP.md", roadmap);
    for (phase, expected) in [("1", "M001: Base"), ("2", "M002: Loans"), ("3", "M001: Base")] {
        case.write(".planning/STATE.md", format!("# State\n\nPhase: {phase}\n"));
        let status = case.run("status --json").success().json();
        assert_eq!(status["milestone"]["name"], expected);
    }
}

#[test]
fn a_milestone_that_is_to_ship_has_not() {
    for page in [
        "## v1.0 Base\n\n**Shipped:** TBD\n",
        "## v1.0 Base\n\n- Shipped features: none\n",
        "- v1.0 Base - to be shipped 2026-09-01\n",
        "- v1.0 Base - 2026-01-02, after v0.9 shipped\n",
        "- v1.0 Base (started 2026-01-02, not shipped)\n",
    ] {
        let case = Case::empty();
        case.write(".planning/MILESTONES.md", format!("# Milestones\n\n{page}"));
        case.write(".planning/ROADMAP.md", "# Roadmap: v1.1 Loans\n\n- [ ] **Phase 2: Loans**\n");
        case.write(".planning/STATE.md", "---\nmilestone: v1.0\n---\n# State\n\nPhase: 2 of 2\n");
        let status = case.run("status --json").success().json();
        assert_eq!(status["milestone"]["name"], "v1.0", "{page}");
    }
}

#[test]
fn live_phases_are_those_of_the_milestone_that_the_roadmap_names() {
    let case = Case::empty();
    let roadmap =
        "# Roadmap\n\n## Milestones\n\n- 🚧 **v1.1 Loans** - Phases 1-2\n\n### Phase 2: Loans\n";
    case.write(".planning/ROADMAP.md", roadmap);
    case.write(".planning/milestones/v1.1-phases/02-loans/02-01-PLAN.md", "# Plan\n");
    assert_eq!(Answer::ask(&case).said(), "execute 2");
}

#[test]
fn the_only_folder_below_milestones_with_an_open_plan_is_live() {
    for (folder, milestone) in [
        ("milestones/v1.1-phases", "Loans"),
        ("milestones/v1.1-phases", "v1.0"),
        ("milestones/v1.1-loans/phases", "v1.1"),
        ("milestones/v1.1", "v1.1"),
        ("milestones/loans/phases", "loans"),
    ] {
        let case = Case::empty();
        case.write(".planning/ROADMAP.md", "# Roadmap\n\n- [ ] **Phase 2: Loans**\n");
        case.write(".planning/STATE.md", format!("# State\n\n**Milestone:** {milestone}\n"));
        case.write(".planning/milestones/v1.0-ROADMAP.md", "# Roadmap\n");
        case.write(&format!(".planning/{folder}/02-loans/02-01-PLAN.md"), "# Plan\n");
        assert_eq!(Answer::ask(&case).said(), "execute 2", "{folder}, {milestone}");
        let milestone = folder.trim_end_matches("/phases");
        case.write(&format!(".planning/{milestone}/SHIPPED.md"), "# Shipped\n");
        assert_ne!(Answer::ask(&case).said(), "execute 2", "{folder}, {milestone}");
    }
}

#[test]
fn a_milestone_with_a_record_of_its_shipping_is_over() {
    let case = Case::empty();
    let roadmap = "# Roadmap\n\n**Milestone:** loans\n\n- [ ] Phase 1: Desk\n";
    case.write(".vbw-planning/ROADMAP.md", roadmap);
    case.write(".vbw-planning/STATE.md", "# State\n\n**Milestone:** loans\n");
    case.write(".vbw-planning/milestones/loans/SHIPPED.md", "# Shipped\n");
    assert_eq!(Answer::ask(&case).said(), "none");
}

#[test]
fn a_milestone_whose_roadmap_is_archived_is_over_where_its_phases_remain() {
    let case = Case::empty();
    case.write(".planning/ROADMAP.md", "# Roadmap\n\n- [x] **Phase 1: Desk**\n");
    case.write(".planning/STATE.md", "---\nmilestone: v1.0\n---\n# State\n");
    case.write(".planning/phases/01-desk/01-01-SUMMARY.md", DONE);
    assert_eq!(Answer::ask(&case).said(), "ship");
    case.write(".planning/milestones/v1.0-ROADMAP.md", "# Roadmap\n");
    assert_eq!(Answer::ask(&case).said(), "none");
}

#[test]
fn plans_with_an_id_that_is_not_read_make_the_answer_unknown() {
    let case = Case::empty();
    case.write(".planning/ROADMAP.md", "# Roadmap\n\n- [ ] **Phase B7: Desk**\n");
    case.write(".planning/phases/b7-desk/B7-01-PLAN.md", "# Plan\n");
    assert_eq!(Answer::ask(&case).said(), "unknown");
}

#[test]
fn no_phase_is_missing_where_no_workstream_is_active() {
    let case = Case::empty();
    for name in ["backend", "frontend"] {
        let roadmap = format!(".planning/workstreams/{name}/ROADMAP.md");
        case.write(&roadmap, "# Roadmap\n\n- [ ] **Phase 2: Loans**\n");
    }
    let refused = case.run("plan 2").code(4);
    let reason =
        "error: what comes next is unknown: .planning/workstreams: contains work that was not read";
    assert!(refused.stderr().starts_with(reason), "{}", refused.stderr());
}

#[test]
fn a_milestone_is_named_by_a_heading_or_a_label_of_any_form() {
    for name in [
        "# Milestone: loans",
        "# Roadmap — Milestone: loans",
        "# Roadmap\n\n## Milestone\n\nloans",
        "# Roadmap\n\n*Milestone:* loans",
        "# Roadmap\n\n__Milestone:__ loans",
    ] {
        let case = Case::empty();
        case.write(".vbw-planning/ROADMAP.md", format!("{name}\n\n- [ ] Phase 1: Desk\n"));
        let status = case.run("status --json").success().json();
        assert_eq!(status["milestone"]["name"], "loans", "{name}");
    }
}

#[test]
fn a_shipped_milestone_is_not_the_current_one() {
    for roadmap in [
        "# Roadmap — Milestone v1.1: Loans\n",
        "# Roadmap\n\n| Milestone | Phases | Status |\n|---|---|---|\n| v1.0 Base | 1 | Shipped |\n| v1.1 Loans | 2 | In progress |\n",
        "# Roadmap\n\n## v1.0 Base ✅\n\n- [x] Phase 1: Desk\n\n## v1.1 Loans 🚧\n",
    ] {
        let case = Case::empty();
        case.write(
            ".planning/MILESTONES.md",
            "# Milestones\n\n## v1.0 Base\n\nShipped 2026-01-02\n",
        );
        case.write(".planning/ROADMAP.md", format!("{roadmap}\n- [ ] **Phase 2: Loans**\n"));
        case.write(".planning/STATE.md", "---\nmilestone: v1.0\n---\n# State\n\nPhase: 2\n");
        let status = case.run("status --json").success().json();
        let name = status["milestone"]["name"].as_str().unwrap();
        assert!(name.starts_with("v1.1"), "{roadmap}: {name}");
    }
}

#[test]
fn a_milestone_that_was_put_off_does_not_follow_a_later_one() {
    let case = Case::empty();
    case.write(
        ".planning/ROADMAP.md",
        "# Roadmap\n\n## Milestones\n\n- ✅ **v1.1 Loans** - shipped 2026-01-02\n- 📋 **v0.9 Fines** - put off\n",
    );
    case.write(".planning/STATE.md", "---\nmilestone: v1.1\n---\n# State\n");
    let status = case.run("status --json").success().json();
    assert_eq!(status["milestone"]["name"], "v1.1");
}
