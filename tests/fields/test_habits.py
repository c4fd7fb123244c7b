"""What works for users of other libraries: the hints of errors about records."""

from tests.support.advice import advice_tests

MISTAKES = {
    "e.columns": "e.names",
    "e.sort_values('t')": "e.sort_by('t', descending=True)",
    "e.groupby('run')": "group_by('run')",
    "e.explode('t')": "e.flatten()",
    "e.head(2)": "e[:5]",
    "e.iloc[0]": "e[[2, 0]]",
    "e.query('t > 4')": "e[e['t'] > 4]",
    "e.assign(n=[1, 2, 3])": "e.with_field('n', [1, 2, 3])",
    "e.to_pylist()": "e.tolist()",
    "e.to_numpy()": "to_structured()",
    "e.num_rows": "len(e)",
    "e.mean()": "e.with_field('t', 2 * e['t'])",
    "e.sort_by('t', ascending=False)": "e.sort_by('t', descending=True)",
    "e.sort_by()": "e.sort_by('t', descending=True)",
    "e.drop(columns=['q'])": "e.drop('q', 'run')",
    "e.rename(columns={'q': 'c'})": "e.rename({'q': 'charge'})",
    "e.with_field(n=[1, 2, 3])": "e.with_field('n', [1, 2, 3])",
    "e.shape = (3,)": "tw.records(dict(e), shape=(3,))",
}

test_a_mistake_is_answered_by_what_works, test_all_that_is_advised_works = advice_tests(MISTAKES, "Records")
