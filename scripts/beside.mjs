// Parts that are no page of their own, and when they are fetched. All other parts are pages, and held to the budget.
export const BESIDE = new Map([
  ["run", "the frame of a run's tabs"],
  ["run_live", "while a run goes on"],
  ["run_rerun", "the dialog that runs it once more"],
  ["run_origin", "a run that was imported or made from another"],
  ["run_needs_fork", "a run that cannot go on as it is"],
  ["runs_import", "the dialog that imports"],
  ["run_skill_adopt", "the dialog that adopts a version"],
  ["run_skill_blame", "what brought each line of a skill"],
  ["run_curves_menu", "the menu of a chart"],
  ["run_curves_readout", "the values under the pointer"],
  ["run_curves_scores", "the score chart as a table"],
  ["run_curves_numbers", "a small chart as a table"],
  ["over_palette", "the palette"],
  ["over_keys", "the list of keys"],
]);
