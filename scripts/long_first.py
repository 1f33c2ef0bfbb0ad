"""A pytest plugin for ``make test``: the modules that take longest first, each on one worker.

So no worker stands idle at the end, and what a module starts for its tests is started once. Before
them are the tests of what a certificate rests on: where branches are counted, theirs are.
"""

from __future__ import annotations

import gc
import importlib
import os
import pkgutil
import signal
from collections import Counter
from collections.abc import Iterator
from typing import Any

import coverage
import hypothesis
import pytest
from xdist.scheduler import LoadScopeScheduling

#: Modules whose tests share nothing: each test is a unit of its own.
APART = frozenset({
    "tests/cli/test_processes.py",
    "tests/crash/test_full_disk.py",
    "tests/crash/test_kills.py",
    "tests/crash/test_races.py",
    "tests/docs/test_docs.py",
    "tests/privacy/test_audit_power.py",
    "tests/unit/accounting/test_composition.py",
    "tests/unit/audit/test_audit_policies.py",
    "tests/unit/compile/test_compiler.py",
    "tests/warehouse/test_same_bytes.py",
})  # fmt: skip
#: About the seconds of CPU of a unit: the order matters, so that no worker is left with a long one.
#: What is not here is soon done.
SECONDS = {
    "tests/warehouse/test_spark.py": 160,
    "tests/docs/test_docs.py::test_the_commands_of_a_page_do_what_it_shows[docs/howto/ledger.md]":
        60,
    "tests/crash/test_kills.py": 50,
    "tests/privacy/test_histories.py": 40,
    "tests/unit/cli/test_yearly.py": 40,
    "tests/browser/test_site.py": 35,
    "tests/dbt/test_dbt_editions.py": 35,
    "tests/dbt/test_dbt_release.py": 35,
    "tests/unit/compile/test_compiler.py::test_five_thousand_columns_are_printed_and_run": 35,
    "tests/unit/choose/test_suggesting.py": 30,
    "tests/kernel/test_meaning.py": 30,
    "tests/check/test_run_beside.py": 14,
    "tests/golden/test_golden.py": 25,
    "tests/unit/accounting/test_plans.py": 25,
    "tests/unit/releasing/test_editions.py": 23,
    "tests/unit/releasing/test_four_eyes.py": 23,
    "tests/unit/releasing/test_release.py": 23,
    "tests/contract/test_ledger_store.py": 20,
    "tests/contract/test_second_machine.py": 20,
    "tests/crash/test_races.py": 20,
    "tests/unit/dbt/test_dbt_desk.py": 20,
    "tests/warehouse/test_mariadb.py": 20,
    "tests/warehouse/test_postgres.py": 20,
    "tests/warehouse/test_same_bytes.py": 30,
    "tests/unit/choose/test_safe.py": 6,
    "tests/docs/test_docs.py::test_the_commands_of_a_page_do_what_it_shows[docs/tutorial.md]": 17,
    "tests/privacy/test_power.py": 17,
    "tests/privacy/test_side_channels.py": 17,
    "tests/cli/test_standing_release.py": 15,
    "tests/dbt/test_dbt_package.py": 15,
    "tests/kernel/test_planted_faults.py": 15,
    "tests/unit/releasing/test_yearly_windows.py": 15,
    "tests/check/test_check_texts.py": 14,
    "tests/docs/test_adding_an_engine.py": 14,
    "tests/unit/cli/test_desk.py": 14,
    "tests/cli/test_scheduled.py": 12,
    "tests/dbt/test_gate_projects.py": 12,
    "tests/privacy/test_count_law.py": 12,
    "tests/unit/accounting/test_choice.py": 12,
    "tests/unit/audit/test_audit_cli.py": 12,
    "tests/unit/policy/test_planned_policies.py": 15,
    "tests/privacy/test_choice_law.py": 11,
    "tests/unit/audit/test_audit_policies.py::test_nothing_is_left_and_nothing_of_the_source_is_used":
        11,
    "tests/crash/test_full_disk.py": 10,
    "tests/dbt/test_dbt_shown_types.py": 10,
    "tests/privacy/test_side_channel_errors.py": 10,
    "tests/unit/cli/test_cli_releases.py": 10,
    "tests/unit/cli/test_comparing.py": 10,
    "tests/unit/cli/test_noisy_counts.py": 10,
    "tests/unit/cli/test_opened_releases.py": 10,
    "tests/unit/cli/test_time_remedies.py": 9,
    "tests/docs/test_recipes.py": 9,
    "tests/unit/cli/test_cli_records.py": 8,
    "tests/unit/cli/test_review.py": 8,
    "tests/unit/cli/test_review_show.py": 8,
    "tests/unit/cli/test_cli_editions.py": 8,
    "tests/fitness/test_startup.py": 8,
    "tests/packaging/test_wheel.py": 8,
    "tests/contract/test_two_clones.py": 8,
    "tests/docs/test_docs.py": 6,
    "tests/privacy/test_audit_power.py": 5,
    "tests/cli/test_processes.py": 3,
}  # fmt: skip


#: The doctests, the tests of what a certificate rests on (``[tool.coverage.run]``), and single
#: tests of other rooms: by them alone every branch of it is tested.
TRACED = (
    "policy_engine/",
    "tests/unit/accounting/",
    "tests/unit/attest/",
    "tests/unit/engines/",
    "tests/unit/kernel/",
    "tests/privacy/test_second_route.py::test_a_delta_that_is_stated_as_the_least_one",
    "tests/privacy/test_second_route.py::test_both_routes_agree_on_a_random_grid",
    "tests/privacy/test_second_route.py::"
    "test_brute_force_alone_refuses_less_than_the_agreed_values",
    "tests/unit/check/test_in_two.py::test_whole_numbers_are_divided_as_the_engine_divides_them",
    "tests/unit/cli/test_cli_measures.py::",
    "tests/unit/cli/test_models.py::test_what_is_no_model_is_refused",
    "tests/unit/cli/test_opened_releases.py::test_of_a_sample_the_estimates_are_drawn",
    "tests/unit/cli/test_opened_releases.py::test_rows_have_no_number_to_draw",
    "tests/unit/cli/test_opened_releases.py::"
    "test_where_no_number_estimates_the_source_none_has_an_error",
    "tests/unit/cli/test_public_keys.py::"
    "test_all_groups_are_released_and_compared_with_a_threshold",
    "tests/unit/cli/test_review.py::test_a_rejected_request_is_asked_anew_and_is_approved_no_more",
    "tests/unit/cli/test_review.py::"
    "test_status_says_the_standing_first_and_the_query_only_when_it_is_asked_for",
    "tests/unit/cli/test_syntactic.py::test_a_file_that_is_no_release_is_refused",
    "tests/unit/cli/test_syntactic.py::test_a_page_is_amber_at_best_and_red_where_it_does_not_hold",
    "tests/unit/cli/test_syntactic.py::test_a_statement_that_says_otherwise_is_refused",
    "tests/unit/cli/test_syntactic.py::test_rows_that_break_a_model_are_refused",
    "tests/unit/compile/",
    "tests/unit/ledger/test_reviews.py::test_a_limit_is_approved",
    "tests/unit/ledger/test_reviews.py::test_a_request_that_cannot_be_read_counts_for_nobody",
    "tests/unit/ledger/test_reviews.py::test_a_review_policy_ends_and_its_people_renew_it",
    "tests/unit/ledger/test_reviews.py::test_a_stage_that_needs_nobody_is_met_by_nothing",
    "tests/unit/ledger/test_reviews.py::test_a_verdict_of_another_version_does_not_count",
    "tests/unit/ledger/test_reviews.py::test_whose_lost_key_would_end_an_account_is_known",
    "tests/unit/policy/test_computed.py::test_an_age_at_a_visit_is_of_a_joined_birth_date",
    "tests/unit/policy/test_filters.py::",
    "tests/unit/policy/test_ladders.py::",
    "tests/unit/policy/test_policy_values.py::",
    "tests/unit/report/test_recodes_compared.py::",
    "tests/unit/releasing/test_four_eyes.py::test_a_key_is_one_persons",
    "tests/unit/releasing/test_four_eyes.py::test_a_key_under_which_anybody_signs_is_refused",
    "tests/unit/releasing/test_four_eyes.py::"
    "test_what_came_out_waits_and_is_approved_without_a_new_charge",
    "tests/unit/releasing/test_four_eyes.py::test_what_is_brought_is_not_enough",
)
#: Long proofs, which ``make evidence`` runs, by their time alone: modules, tests, and cases beside
#: others of their kind.
PROOFS = frozenset({
    "cli/test_processes.py::test_odd_paths",
    "cli/test_processes.py::test_what_was_charged_and_never_started_is_given_back",
    "dbt/test_dbt_sync_build.py::test_the_example_is_built_and_its_tainted_exposure_stops_it",
    "docs/test_adding.py::test_a_recode_is_added",
    "unit/measure/test_categorical.py::test_distances_are_the_least_cost_of_moving",
    "unit/policy/test_noise_policies.py::test_a_replaced_person_moves_a_mean_twice_as_far",
    "contract/test_second_machine.py",
    "crash/test_kills.py",
    "crash/test_races.py",
    "dbt/test_dbt_howto.py",
    "dbt/test_dbt_shown_types.py::test_every_version_tells_the_types_of_a_table",
    "privacy/test_second_route.py::test_brute_force_alone_refuses_what_is_too_small",
    "unit/accounting/test_composition.py::TestBasic::test_order_does_not_matter",
    "unit/accounting/test_composition.py::test_partitions_cost_their_worst_part",
    "unit/audit/test_audit_policies.py::test_a_csv_is_made_plainly_whatever_its_own_form",
    "unit/policy/test_noise_policies.py::"
    "test_sums_of_several_groupings_meet_the_guarantee_with_their_counts",
    "cli/test_processes.py::test_a_reader_that_leaves_changes_no_code[plan a.yaml-0]",
    "cli/test_processes.py::test_two_releases_of_one_policy_at_once",
    "contract/test_ledger_store.py::TestPostgresRecords::"
    "test_of_fifty_processes_the_budget_pays_five_time_and_again",
    "contract/test_ledger_store.py::TestSqliteRecords::"
    "test_of_fifty_processes_the_budget_pays_five_time_and_again",
    "docs/test_docs.py::test_the_commands_of_a_page_do_what_it_shows[docs/howto/certify-a-count.md]",
    "docs/test_docs.py::test_the_commands_of_a_page_do_what_it_shows[docs/howto/write-a-policy.md]",
    "docs/test_docs.py::test_the_commands_of_a_page_do_what_it_shows[docs/howto/warehouses.md]",
    "docs/test_docs.py::test_the_commands_of_a_page_do_what_it_shows"
    "[docs/howto/sums-and-groupings.md]",
    "browser/test_report_page.py::test_a_phone_scrolls_one_way[amber]",
    "browser/test_report_page.py::test_a_phone_scrolls_one_way[hostile-internal]",
    "browser/test_report_page.py::test_a_phone_scrolls_one_way[noisy]",
    "browser/test_report_page.py::test_a_phone_scrolls_one_way[nothing]",
    "browser/test_report_page.py::test_axe_finds_nothing[noisy]",
    "browser/test_report_page.py::test_axe_finds_nothing[nothing]",
    "browser/test_report_page.py::test_axe_finds_nothing[wide]",
    "browser/test_report_page.py::test_it_prints_to_a_pdf_that_reads[hostile-Verified-light]",
    "browser/test_report_page.py::test_it_prints_to_a_pdf_that_reads[red-does not hold-dark]",
    "browser/test_report_page.py::test_nothing_is_fetched_and_nothing_runs[amber]",
    "browser/test_report_page.py::test_nothing_is_fetched_and_nothing_runs[noisy]",
    "browser/test_report_page.py::test_nothing_is_fetched_and_nothing_runs[nothing]",
    "browser/test_report_page.py::test_nothing_is_fetched_and_nothing_runs[wide]",
    "browser/test_serve_page.py::test_nothing_runs_and_axe_finds_nothing[keys]",
    "browser/test_serve_page.py::test_nothing_runs_and_axe_finds_nothing[nowhere]",
    "browser/test_serve_page.py::test_nothing_runs_and_axe_finds_nothing[policies]",
    "browser/test_serve_page.py::test_nothing_runs_and_axe_finds_nothing[waiting]",
    "kernel/test_beyond.py::test_no_text_fails_on_a_row[clickhouse-False]",
    "kernel/test_meaning.py::test_a_map_that_is_joined_means_the_same[clickhouse-0]",
    "kernel/test_meaning.py::test_a_sum_takes_next_to_nothing_for_nothing[clickhouse]",
    "kernel/test_meaning.py::test_public_keys_are_shown_as_the_claim_means[mariadb-0]",
    "kernel/test_meaning.py::test_public_keys_are_shown_as_the_claim_means[postgres-0]",
    "kernel/test_meaning.py::test_public_values_are_drawn_as_the_claim_means[clickhouse-0]",
    "kernel/test_planted_faults.py::test_a_fault_is_caught_and_its_clean_twin_passes"
    "[NULL first (PostgreSQL)]",
    "kernel/test_planted_faults.py::test_a_fault_is_caught_and_its_clean_twin_passes"
    "[the first row is drawn (MariaDB)]",
    "privacy/test_audit_power.py::test_each_broken_mechanism_is_flagged_by_itself_and_the_sound_one"
    "_is_not[\\u03c4 = B]",
    "privacy/test_count_law.py::test_released_counts_follow_the_cells_law"
    "[keyed-{column: id, rows: any}-raw_first]",
    "privacy/test_power.py::test_a_broken_sampler_is_rejected_by_the_laws[everybody]",
    "privacy/test_power.py::test_a_broken_sampler_is_rejected_by_the_laws[one secret]",
    "privacy/test_power.py::test_a_broken_text_is_rejected_by_the_laws_and_by_the_kernel"
    "[native->= 5->= 4]",
    "privacy/test_power.py::test_a_broken_text_is_rejected_by_the_laws_and_by_the_kernel"
    "[native-TABLESAMPLE BERNOULLI (30 PERCENT)-TABLESAMPLE BERNOULLI (30 PERCENT)"
    " WHERE random() < 0.9]",
    "privacy/test_power.py::test_a_broken_text_is_rejected_by_the_laws_and_by_the_kernel"
    "[native-TABLESAMPLE BERNOULLI (30 PERCENT)-WHERE rowid % 10 < 3]",
    "privacy/test_side_channels.py::test_a_channel_that_is_opened_again_is_noticed"
    "[a_dictionary_of_the_source]",
    "privacy/test_side_channels.py::test_a_channel_that_is_opened_again_is_noticed[a_profile]",
    "privacy/test_side_channels.py::test_a_channel_that_is_opened_again_is_noticed"
    "[blocks_by_this_process]",
    "unit/accounting/test_binomial.py::test_a_sum_is_above_by_less_than_what_groups_take_off[0]",
    "unit/accounting/test_table_noise.py::test_rules_lie_above_the_exact_curve"
    "[0.9-place-replace_one]",
    "unit/check/test_check_printed.py::test_every_golden_print_is_found_again[duckdb]",
    "unit/check/test_check_printed.py::test_every_print_of_a_random_claim_is_found_again"
    "[postgres-0]",
    "docs/test_docs.py::test_the_commands_of_a_page_do_what_it_shows[docs/howto/dbt-gate.md]",
    "kernel/test_planted_faults.py::test_a_fault_is_caught_and_its_clean_twin_passes"
    "[texts are compared by their collation (MariaDB)]",
    "unit/policy/test_noise_policies.py::test_the_sums_of_a_rollup_have_their_share",
    "unit/policy/test_policy_digest.py::test_what_a_pair_is_chosen_for_matters",
    "cli/test_processes.py::test_an_interrupt_after_the_charge_leaves_nothing_but_the_charge[15]",
    "cli/test_processes.py::test_two_releases_that_together_cost_too_much",
    "docs/test_docs.py::test_the_commands_of_a_page_do_what_it_shows[docs/howto/files.md]",
    "docs/test_docs.py::test_the_commands_of_a_page_do_what_it_shows[docs/howto/certify-sql.md]",
    "docs/test_docs.py::test_the_commands_of_a_page_do_what_it_shows[docs/howto/report.md]",
    "golden/test_golden.py::test_what_a_dialect_refuses_is_said_with_the_reason[bigquery]",
    "golden/test_golden.py::test_what_a_dialect_refuses_is_said_with_the_reason[databricks]",
    "golden/test_golden.py::test_what_a_dialect_refuses_is_said_with_the_reason[datafusion]",
    "golden/test_golden.py::test_what_a_dialect_refuses_is_said_with_the_reason[mysql]",
    "golden/test_golden.py::test_what_a_dialect_refuses_is_said_with_the_reason[redshift]",
    "golden/test_golden.py::test_what_a_dialect_refuses_is_said_with_the_reason[snowflake]",
    "golden/test_golden.py::test_what_a_dialect_refuses_is_said_with_the_reason[spark]",
    "golden/test_golden.py::test_what_a_dialect_refuses_is_said_with_the_reason[trino]",
    "privacy/test_audit_power.py::test_the_self_test_passes_and_one_that_cannot_flag_fails",
    "privacy/test_second_route.py::test_brute_force_alone_refuses_under_replace_one",
    "unit/accounting/test_frontier.py::test_every_rate_is_the_greatest_and_rises[0.1-1e-9]",
    "unit/accounting/test_frontier.py::test_the_ends_of_epsilon[1e-300]",
    "unit/accounting/test_tables.py::test_the_best_law_is_the_one_that_shows_the_smallest_groups",
    "unit/check/test_check_printed.py::test_every_golden_print_is_found_again[postgres]",
    "unit/check/test_check_printed.py::test_every_print_of_a_random_claim_is_found_again"
    "[clickhouse-0]",
    "unit/check/test_check_printed.py::test_every_print_of_a_random_claim_is_found_again[spark-0]",
    "unit/cli/test_cli_estimating.py::test_every_grouping_shows_its_sums_near_the_truth",
    "unit/cli/test_cli_report.py::test_each_sum_and_mean_has_its_own_noise",
    "unit/cli/test_parts.py::test_parts_of_another_partition_add_up[other0]",
    "docs/test_docs.py::test_the_commands_of_a_page_do_what_it_shows[docs/howto/choose-numbers.md]",
    "docs/test_docs.py::test_the_commands_of_a_page_do_what_it_shows[docs/howto/recipes.md]",
    "docs/test_docs.py::test_the_commands_of_a_page_do_what_it_shows[docs/howto/keys.md]",
    "docs/test_docs.py::test_the_commands_of_a_page_do_what_it_shows[docs/howto/review.md]",
    "docs/test_docs.py::test_the_commands_of_a_page_do_what_it_shows[docs/howto/syntactic.md]",
    "kernel/test_meaning.py::test_public_keys_are_shown_as_the_claim_means[clickhouse-0]",
    "kernel/test_meaning.py::test_public_keys_are_shown_as_the_claim_means[datafusion-0]",
    "kernel/test_noise_edges.py::test_each_entry_divides_the_hashes_at_its_bits[clickhouse]",
    "privacy/test_audit_power.py::test_each_broken_mechanism_is_flagged_by_itself_and_the_sound_one"
    "_is_not[sticky noise]",
    "privacy/test_count_law.py::test_released_counts_follow_the_cells_law[keyed-row-raw_first]",
    "privacy/test_count_law.py::test_released_counts_follow_the_cells_law"
    "[keyed-{column: id, rows: any}-recoded]",
    "privacy/test_noise_neighbours.py::test_a_sound_table_is_not_flagged[discrete_gaussian]",
    "privacy/test_noise_neighbours.py::test_a_sound_table_is_not_flagged[public keys]",
    "privacy/test_noise_neighbours.py::test_a_table_30_percent_too_narrow_is_flagged"
    "[discrete_gaussian]",
    "privacy/test_noise_neighbours.py::test_a_table_30_percent_too_narrow_is_flagged[public keys]",
    "privacy/test_power.py::test_a_broken_sampler_is_rejected_by_the_laws[blocks]",
    "privacy/test_power.py::test_a_broken_sampler_is_rejected_by_the_laws[fewer]",
    "privacy/test_power.py::test_a_broken_sampler_is_rejected_by_the_laws[more]",
    "privacy/test_power.py::test_neighbours_of_a_mechanism_without_a_sample_are_told_apart",
    "unit/accounting/test_calibration.py::test_k_is_least[add_remove-50]",
    "unit/accounting/test_composition.py::test_a_delta_beyond_double_precision",
    "unit/accounting/test_frontier.py::test_several_releases_and_replaced_people[replace_one-2]",
    "unit/accounting/test_losses.py::test_many_places[1e-5-1.001]",
    "unit/accounting/test_losses.py::test_places_beyond_reach_are_one_block",
    "unit/accounting/test_noise.py::test_many_groups_beside_the_floats_of_the_accountant",
    "unit/accounting/test_noise.py::test_the_grid_lies_little_above_the_halves",
    "unit/accounting/test_partial_knowledge.py::test_proposition_27_as_printed_is_below_what_is_true",
    "unit/accounting/test_partial_knowledge.py::test_windows_that_end_before_the_sizes_do",
    "unit/accounting/test_table_noise.py::test_rules_lie_above_the_exact_curve[0.9-sum-replace_one]",
    "unit/accounting/test_table_noise.py::test_rules_lie_above_the_exact_curve[2.5-sum-replace_one]",
    "unit/audit/test_audit_policies.py::test_a_relation_is_audited_and_its_database_stays"
    "[table: made.out-keyed]",
    "unit/check/test_check_printed.py::test_every_golden_print_is_found_again[clickhouse]",
    "unit/check/test_check_printed.py::test_every_golden_print_is_found_again[spark]",
    "unit/check/test_check_printed.py::test_every_golden_print_is_found_again[sqlite]",
    "unit/check/test_check_printed.py::test_every_print_of_a_random_claim_is_found_again"
    "[clickhouse-200]",
    "unit/check/test_check_printed.py::test_every_print_of_a_random_claim_is_found_again"
    "[duckdb-200]",
    "unit/check/test_check_printed.py::test_every_print_of_a_random_claim_is_found_again"
    "[postgres-200]",
    "unit/check/test_check_printed.py::test_every_print_of_a_random_claim_is_found_again"
    "[spark-200]",
    "unit/cli/test_cli_report.py::test_each_sum_of_a_rollup_has_the_noise_of_its_grouping",
    "unit/cli/test_cli_estimating.py::test_sums_beside_the_counts_are_left_out_of_what_agrees",
    "unit/cli/test_parts.py::test_parts_of_another_partition_add_up[other1]",
    "unit/kernel/test_public_keys.py::test_the_least_noise_is_taken_where_all_keys_are_shown[20]",
    "unit/accounting/test_losses.py::test_two_releases_by_an_exact_sum[0.1-20-0.1]",
    "unit/accounting/test_losses.py::test_two_releases_by_an_exact_sum[0.1-5-0.3]",
    "unit/accounting/test_losses.py::test_two_releases_by_an_exact_sum[0.1-60-0.5]",
    "unit/accounting/test_losses.py::test_two_releases_by_an_exact_sum[0.9-5-0.3]",
    "unit/accounting/test_losses.py::test_two_releases_by_an_exact_sum[0.9-60-0.5]",
    "unit/accounting/test_losses.py::"
    "test_never_below_and_within_a_thousandth_of_ball_arithmetic[20-0.1-6-0.9]",
    "unit/accounting/test_losses.py::"
    "test_never_below_and_within_a_thousandth_of_ball_arithmetic[20-0.4-8-1.1]",
    "unit/accounting/test_losses.py::"
    "test_never_below_and_within_a_thousandth_of_ball_arithmetic[10-0.05-4-0.6]",
    "unit/accounting/test_table_noise.py::test_rules_lie_above_the_exact_curve[2.5-count-add_remove]",
    "unit/accounting/test_table_noise.py::test_rules_lie_above_the_exact_curve[2.5-count-replace_one]",
    "unit/accounting/test_table_noise.py::test_rules_lie_above_the_exact_curve[2.5-sum-add_remove]",
    "unit/accounting/test_table_noise.py::test_rules_lie_above_the_exact_curve[2.5-place-add_remove]",
    "unit/accounting/test_table_noise.py::test_rules_lie_above_the_exact_curve[2.5-place-replace_one]",
    "unit/check/test_check_printed.py::test_every_print_of_a_random_claim_is_found_again[sqlite-0]",
    "unit/check/test_check_printed.py::test_every_print_of_a_random_claim_is_found_again"
    "[sqlite-200]",
    "unit/accounting/test_calibration.py::test_best_pair_where_each_look_is_dear[add_remove-20]",
    "unit/accounting/test_calibration.py::"
    "test_rate_of_several_releases_is_greatest[replace_one]",
    "privacy/test_count_law.py::test_rows_are_in_by_themselves[keyed-{column: id, rows: any}]",
    "privacy/test_count_law.py::test_released_counts_follow_the_cells_law[native-row-raw_first]",
    "browser/test_report_page.py::test_axe_finds_nothing[amber]",
    "browser/test_report_page.py::test_axe_finds_nothing[hostile-internal]",
    "privacy/test_power.py::test_a_broken_text_is_rejected_by_the_laws_and_by_the_kernel"
    "[native-30 PERCENT-21 PERCENT]",
    "privacy/test_second_route_stated.py::"
    "test_each_assumption_that_is_kept_back_is_missed[hospital_groups]",
    "privacy/test_second_route_stated.py::test_an_honest_certificate_holds[hospital_groups]",
    "unit/accounting/test_calibration.py::test_best_pair_where_each_look_is_dear[add_remove-3]",
    "unit/accounting/test_calibration.py::test_k_is_least[add_remove-3]",
    "unit/accounting/test_composition.py::TestOptimal::test_order_does_not_matter",
    "unit/accounting/test_losses.py::test_agrees_with_dp_accounting[50]",
    "unit/accounting/test_losses.py::test_two_releases_by_an_exact_sum[0-20-0.1]",
    "unit/ledger/test_pricing.py::test_no_way_to_choose_beats_the_limit[game2]",
    "unit/policy/test_planned_policies.py::"
    "test_what_a_policy_is_charged_with_is_what_was_planned[roll-up-replace_one]",
    "unit/policy/test_planned_policies.py::"
    "test_what_a_policy_is_charged_with_is_what_was_planned[sums-replace_one]",
    "unit/policy/test_planned_policies.py::"
    "test_what_a_policy_is_charged_with_is_what_was_planned[visits-replace_one]",
    "unit/policy/test_planned_policies.py::test_so_many_editions_fill_the_account[1-sums]",
    "unit/policy/test_planned_policies.py::test_so_many_editions_fill_the_account[12-sums]",
    "unit/cli/test_yearly.py::test_what_is_printed_works_when_it_is_written[sample]",
    "unit/accounting/test_plans.py::test_every_mechanism_can_be_planned[names0-add_remove]",
    "unit/accounting/test_plans.py::test_every_mechanism_can_be_planned[names0-replace_one]",
    "unit/accounting/test_plans.py::"
    "test_one_policy_that_outweighs_all_others_has_the_noise_of_one[100000]",
})  # fmt: skip


#: Grids of cases that are much alike, of which every so many-th is tried by ``make test`` and all
#: by ``make evidence``.
GRIDS = {
    "unit/accounting/test_left.py::test_what_is_offered_is_admitted_by_the_rest_and_for_ever": 2,
    "unit/accounting/test_covering.py::"
    "test_what_is_covered_costs_no_more_at_any_epsilon_and_the_same_way_round": 2,
    "unit/attest/test_brute_product.py::test_the_accountant_lies_between_or_little_above": 2,
    "unit/choose/test_searching.py::test_what_is_found_is_what_brute_force_finds": 8,
    "unit/ledger/test_windows.py::"
    "test_what_is_offered_of_a_window_is_admitted_and_one_step_more_is_not": 3,
    "unit/test_errors.py::test_a_public_name_is_never_hidden_by_a_room_of_the_same_name": 3,
    "kernel/test_all_groups.py::test_everybody_in_the_period_is_in_one_of_all_groups": 4,
    "unit/kernel/test_intervals_shown.py::"
    "test_what_counts_is_in_the_interval_of_a_mean_in_95_of_100_releases": 5,
    "unit/kernel/test_period.py::test_rows_of_other_periods_change_nothing": 3,
    "unit/accounting/test_curve.py::test_both_directions_by_direct_summation": 5,
    "unit/accounting/test_groups.py::test_no_arrangement_over_cells_is_worse": 3,
    "unit/accounting/test_groups.py::test_one_cell_by_direct_summation": 5,
    "unit/accounting/test_partial_knowledge.py::"
    "test_the_window_is_the_whole_expectation_from_above": 7,
    "unit/attest/test_brute_force.py::test_every_size_and_the_sizes_around_the_largest_agree": 5,
    "unit/attest/test_brute_force.py::test_it_is_the_definition": 4,
    "unit/check/test_check_strangers.py::test_no_text_that_was_tampered_with_is_certified": 2,
    "unit/compile/test_recodes_on_engine.py::"
    "test_a_recoding_on_the_engine_is_what_the_model_says": 2,
    "unit/dbt/test_gate_releases.py::test_a_generated_release_of_another_chance_is_certified": 3,
    "unit/dbt/test_gate_sql_reader.py::test_reader_and_parser_agree_on_what_nobody_wrote": 2,
    "unit/kernel/test_certificate.py::test_what_is_no_claim_is_refused_or_is_another": 2,
    "unit/kernel/test_tokens.py::test_a_text_with_one_token_changed_is_another": 2,
    "unit/kernel/test_tokens.py::test_all_else_is_not": 3,
    "unit/kernel/test_tokens.py::test_white_space_and_plain_comments_are_free": 4,
    "unit/releasing/test_release.py::"
    "test_a_step_that_fails_leaves_all_as_it_was_and_charged_if_drawn": 3,
    "unit/releasing/test_release.py::test_a_table_below_k_releases_nothing_and_succeeds": 3,
    "unit/releasing/test_release.py::test_a_table_that_cannot_be_written_is_as_it_was": 3,
    "unit/warehouse/test_drawing.py::"
    "test_drawn_rows_are_those_whose_bits_are_below_the_threshold": 5,
    "unit/warehouse/test_drawing.py::test_keys_of_every_kind_are_drawn_by_their_definition": 5,
    "warehouse/test_clickhouse.py::test_it_releases_what_duckdb_releases": 2,
    "warehouse/test_mariadb.py::test_it_releases_what_duckdb_releases": 2,
    "warehouse/test_postgres.py::test_it_releases_what_duckdb_releases": 2,
}

#: Tests whose branches others cover as well: to trace one takes two or three times as long as to
#: run it.
UNTRACED = frozenset({
    "unit/accounting/test_adaptive.py::test_a_chain_gets_what_the_sum_of_certificates_admits",
    "unit/accounting/test_adaptive.py::"
    "test_a_first_release_without_a_curve_leaves_the_sum_of_certificates",
    "unit/accounting/test_adaptive.py::test_the_shares_are_at_most_the_delta_of_the_limit",
    "unit/accounting/test_adaptive.py::test_what_is_covered_costs_no_more",
    "unit/accounting/test_balls.py::test_groups",
    "unit/accounting/test_balls.py::test_within_3e_11_and_never_below",
    "unit/accounting/test_binomial.py::test_a_sum_is_above_by_less_than_what_groups_take_off",
    "unit/accounting/test_calibration.py::test_certificate_by_delta",
    "unit/accounting/test_calibration.py::test_k_is_least",
    "unit/accounting/test_choice.py::test_a_larger_sensitivity_is_in_the_coins",
    "unit/accounting/test_choice.py::test_each_coin_is_its_power_rounded_down",
    "unit/accounting/test_choice.py::test_no_neighbours_are_further_apart_than_is_claimed",
    "unit/accounting/test_choice.py::test_utilities_that_move_one_way_cost_half",
    "unit/accounting/test_composition.py::TestBasic::test_never_below_the_exact_value",
    "unit/accounting/test_composition.py::TestOptimal::test_never_below_the_exact_value",
    "unit/accounting/test_composition.py::TestTight::test_an_epsilon_is_enough",
    "unit/accounting/test_composition.py::TestTight::test_falls_in_epsilon_and_in_delta",
    "unit/accounting/test_composition.py::TestTight::test_never_below_the_exact_value",
    "unit/accounting/test_composition.py::TestTight::test_one_event_more_never_lowers",
    "unit/accounting/test_composition.py::test_sums_keep_every_digit_whatever_the_context",
    "unit/accounting/test_composition.py::test_the_same_event_again_and_again",
    "unit/accounting/test_covering.py::test_a_pair_is_below_where_no_test_is_better",
    "unit/accounting/test_covering.py::test_fewer_groups_and_less_noisy_numbers_are_what_counts",
    "unit/accounting/test_covering.py::"
    "test_what_is_covered_costs_no_more_at_any_epsilon_and_the_same_way_round",
    "unit/accounting/test_curve.py::test_both_directions_by_direct_summation",
    "unit/accounting/test_curve.py::test_wide_grid_against_high_precision",
    "unit/accounting/test_frontier.py::test_every_rate_is_the_greatest_and_rises",
    "unit/accounting/test_frontier.py::test_several_releases_and_replaced_people",
    "unit/accounting/test_groups.py::test_no_arrangement_over_cells_is_worse",
    "unit/accounting/test_groups.py::test_one_cell_by_direct_summation",
    "unit/accounting/test_groups.py::test_the_add_direction_alone",
    "unit/accounting/test_left.py::test_what_is_offered_is_admitted_by_the_rest_and_for_ever",
    "unit/accounting/test_losses.py::test_agrees_with_dp_accounting",
    "unit/accounting/test_losses.py::test_an_epsilon_next_to_the_largest_loss_is_not_below_it",
    "unit/accounting/test_losses.py::test_dp_accounting_has_no_digits_for_a_small_delta",
    "unit/accounting/test_losses.py::test_events_without_a_curve",
    "unit/accounting/test_losses.py::test_known_epsilons",
    "unit/accounting/test_losses.py::test_many_places",
    "unit/accounting/test_losses.py::test_never_below_and_within_a_thousandth_of_ball_arithmetic",
    "unit/accounting/test_losses.py::test_two_releases_by_an_exact_sum",
    "unit/accounting/test_noise.py::"
    "test_a_tilted_count_beside_a_sample_is_composed_the_same_way_round",
    "unit/accounting/test_noise.py::"
    "test_halves_that_are_too_large_are_refused_before_they_are_made",
    "unit/accounting/test_noise.py::"
    "test_numbers_that_go_the_same_way_or_not_are_composed_as_they_go",
    "unit/accounting/test_noise.py::"
    "test_numbers_with_one_law_are_one_power_however_they_are_listed",
    "unit/accounting/test_noise.py::test_one_number_is_exact",
    "unit/accounting/test_noise.py::"
    "test_the_worst_shift_is_exact_for_one_number_and_dominates_for_more",
    "unit/accounting/test_odds.py::test_no_guess_is_right_more_often",
    "unit/accounting/test_partial_knowledge.py::"
    "test_it_bounds_every_sum_of_records_that_are_not_alike",
    "unit/accounting/test_partial_knowledge.py::test_it_is_below_the_closed_forms",
    "unit/accounting/test_partial_knowledge.py::"
    "test_the_window_is_the_whole_expectation_from_above",
    "unit/accounting/test_plans.py::test_one_edition_alone_is_as_good_as_it_can_be",
    "unit/accounting/test_plans.py::test_one_policy_that_outweighs_all_others_has_the_noise_of_one",
    "unit/accounting/test_plans.py::test_the_price_by_another_accountant",
    "unit/accounting/test_plans.py::"
    "test_three_policies_of_unequal_shares_are_within_3_per_cent_of_the_best",
    "unit/accounting/test_prior.py::test_what_is_expected_is_the_binomial_law",
    "unit/accounting/test_replace.py::test_never_below_and_within_a_thousandth",
    "unit/accounting/test_replace.py::test_where_the_last_sizes_have_no_mass",
    "unit/accounting/test_table_noise.py::test_rules_lie_above_the_exact_curve",
    "unit/accounting/test_tables.py::test_an_aim_is_met_and_one_step_less_is_not",
    "unit/accounting/test_tables.py::test_places_beside_scipy",
    "unit/accounting/test_tables.py::test_what_a_table_is_expected_to_cost_is_what_it_costs",
    "unit/accounting/test_windows.py::"
    "test_a_filter_of_a_window_admits_what_spans_it_as_it_would_any_event",
    "unit/accounting/test_windows.py::test_what_holds_for_ever_is_charged_with_a_plan_as_one_event",
    "unit/accounting/test_windows.py::"
    "test_who_loses_the_rows_of_a_period_is_replaced_in_what_spans_it",
    "unit/accounting/test_windows.py::test_windows_that_are_chosen_by_what_was_seen_add_up",
    "unit/attest/test_brute_force.py::test_it_is_the_definition",
    "unit/attest/test_brute_product.py::test_the_sum_of_all_outcomes_lies_between",
    "unit/attest/test_brute_replace.py::test_it_is_the_definition",
    "unit/attest/test_brute_replace.py::test_the_accountants_bound_is_above_and_near",
    "unit/attest/test_brute_replace.py::test_where_not_all_pairs_are_summed_it_says_so",
    "unit/attest/test_exported.py::test_other_rows_than_the_tables",
    "unit/attest/test_keyring.py::test_whatever_stands_in_a_ring_is_read_as_it_was_written",
    "unit/attest/test_parquet_file.py::test_no_byte_of_a_file_may_change",
    "unit/attest/test_pure_certificates.py::"
    "test_answers_of_all_columns_that_a_policy_can_have_are_summed",
    "unit/attest/test_verify_release.py::test_no_file_is_too_odd",
    "unit/attest/test_verify_release.py::test_no_predicate_is_too_odd",
    "unit/kernel/test_certificate.py::test_what_is_no_claim_is_refused_or_is_another",
    "unit/kernel/test_period.py::test_it_is_written_and_read_again_and_tells_claims_apart",
    "unit/kernel/test_period.py::test_nothing_that_sees_two_rows_stands_before_the_period",
    "unit/kernel/test_period.py::test_rows_of_other_periods_change_nothing",
    "unit/kernel/test_printing.py::test_a_text_is_one_of_its_claim_alone",
    "unit/kernel/test_public_keys.py::test_a_sum_stands_beside_an_empty_key",
    "unit/kernel/test_quantiles.py::test_a_pair_of_a_choice_is_above_every_pair_of_small_groups",
    "unit/kernel/test_sums.py::test_the_price_is_not_below_the_release_itself",
    "unit/kernel/test_tokens.py::test_a_text_with_one_token_changed_is_another",
    "unit/kernel/test_tokens.py::test_all_else_is_not",
    "unit/kernel/test_tokens.py::test_white_space_and_plain_comments_are_free",
})  # fmt: skip


TRACING = pytest.StashKey["Tracing"]()
CASES = pytest.StashKey[Counter[str]]()


def is_traced(nodeid: str) -> bool:
    """Whether a test is one of what a certificate rests on."""
    return nodeid.startswith(TRACED)


def unit_of(nodeid: str) -> str:
    """What one worker runs as a whole."""
    module = nodeid.partition("::")[0]
    return nodeid if module in APART else module


def seconds_of(nodeid: str) -> int:
    """About how long the unit of a test takes."""
    return SECONDS.get(nodeid, SECONDS.get(nodeid.partition("::")[0], 0))


class LongFirst(LoadScopeScheduling):
    """Hands out units in the order of the collection."""

    def _split_scope(self, nodeid: str) -> str:
        return unit_of(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LongFirst:
    """One unit after the other, to whoever is free."""
    config.option.loadscopereorder = False
    return LongFirst(config, log)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark the cases that are proofs because of their time, by themselves or in a grid."""
    name = item.nodeid.removeprefix("tests/")
    module, test = name.partition("::")[0], name.partition("[")[0]
    counted = item.session.stash.setdefault(CASES, Counter())
    if PROOFS & {module, test, name} or counted[test] % GRIDS.get(test, 1):
        item.add_marker("evidence")
    counted[test] += 1


def pytest_configure() -> None:
    """Let an example take its time: a machine may be busy. Let interrupts through to what is run.

    A shell that starts a command in the background makes it ignore them, and all that it starts.
    """
    # Thousands of tests that are collected stay: to look for garbage in them takes its time.
    gc.set_threshold(20_000, 20, 100)
    examples = 100 if os.environ.get("EVIDENCE") else 30
    hypothesis.settings.register_profile("patient", deadline=None, max_examples=examples)
    hypothesis.settings.load_profile("patient")
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


class Tracing:
    """Whether branches are counted now, in a process that runs tests of a run that counts them."""

    def __init__(self, config: pytest.Config) -> None:
        runs_tests = not config.pluginmanager.hasplugin("dsession")
        asked = runs_tests and config.getoption("branches")
        self.coverage = coverage.Coverage(data_suffix=True) if asked else None
        self._on = False

    def turn(self, on: bool) -> None:
        """Count from now on, or do not."""
        if self.coverage and on != self._on:
            self.coverage.start() if on else self.coverage.stop()
            self._on = on


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--branches``: not pytest-cov, whose workers trace on while it pauses."""
    parser.addoption("--branches", action="store_true", help="count them where tests are TRACED")


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[Any]:
    """Trace what the package does as it is imported, and not how tests are found."""
    tracing = Tracing(session.config)
    session.stash[TRACING] = tracing
    tracing.turn(True)
    if tracing.coverage:
        import policy_engine  # not before it is traced

        for module in pkgutil.walk_packages(policy_engine.__path__, "policy_engine."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
    tracing.turn(False)
    return (yield)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> None:
    """Count branches in the tests of what a certificate rests on."""
    name = item.nodeid.removeprefix("tests/").partition("[")[0]
    item.session.stash[TRACING].turn(is_traced(item.nodeid) and name not in UNTRACED)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write what was counted, beside what other workers did."""
    tracing = session.stash.get(TRACING, None)
    if tracing and tracing.coverage:
        tracing.turn(False)
        tracing.coverage.save()


def pytest_collection_finish() -> None:
    """What stands now stays to the end."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest first, of those whose branches are counted and then of the others."""
    items.sort(key=lambda item: (not is_traced(item.nodeid), -seconds_of(item.nodeid)))
