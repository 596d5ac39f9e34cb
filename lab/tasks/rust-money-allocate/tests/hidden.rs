use invoicing::{Currency, Invoice, Money, MoneyError};

const EUR: Currency = Currency::EUR;

fn allocate(units: i64, weights: &[u64]) -> Vec<i64> {
    let shares = Money::new(units, Currency::KWD).allocate(weights).unwrap();
    assert!(shares.iter().all(|s| s.currency() == Currency::KWD));
    shares.iter().map(Money::units).collect()
}

fn invoice(amounts: &[i64]) -> Invoice {
    let mut invoice = Invoice::new(EUR);
    for (i, &units) in amounts.iter().enumerate() {
        invoice.add(&format!("line {i}"), Money::new(units, EUR)).unwrap();
    }
    invoice
}

fn discounted(amounts: &[i64], discount: i64) -> Result<Vec<i64>, MoneyError> {
    let before = invoice(amounts);
    let after = before.discounted(Money::new(discount, EUR))?;
    assert_eq!(before, invoice(amounts));
    for (i, line) in after.lines().iter().enumerate() {
        assert_eq!(line.text, format!("line {i}"));
        assert_eq!(line.amount.currency(), EUR);
    }
    let expected = before.total().unwrap().checked_sub(Money::new(discount, EUR)).unwrap();
    assert_eq!(after.total(), Ok(expected));
    Ok(after.lines().iter().map(|line| line.amount.units()).collect())
}

#[test]
fn examples_of_the_issue() {
    assert_eq!(allocate(100, &[1, 1, 1]), [34, 33, 33]);
    assert_eq!(allocate(5, &[30, 70]), [2, 3]);
    assert_eq!(allocate(101, &[1, 2, 3]), [17, 34, 50]);
}

#[test]
fn even_and_single() {
    assert_eq!(allocate(100, &[1, 3]), [25, 75]);
    assert_eq!(allocate(7, &[9]), [7]);
    assert_eq!(allocate(0, &[1, 2]), [0, 0]);
    assert_eq!(allocate(3, &[1, 1, 1, 1, 1]), [1, 1, 1, 0, 0]);
}

#[test]
fn largest_fraction_comes_first() {
    // 0.4, 0.7, 8.9: two units are left over.
    assert_eq!(allocate(10, &[4, 7, 89]), [0, 1, 9]);
    // 1.25, 2.5, 1.25
    assert_eq!(allocate(5, &[1, 2, 1]), [1, 3, 1]);
    // 0.5, 1.0, 0.5
    assert_eq!(allocate(2, &[1, 2, 1]), [1, 1, 0]);
    // 2.1, 2.1, 2.8
    assert_eq!(allocate(7, &[3, 3, 4]), [2, 2, 3]);
}

#[test]
fn zero_weights_get_nothing() {
    assert_eq!(allocate(100, &[0, 1, 0, 2, 0]), [0, 33, 0, 67, 0]);
    assert_eq!(allocate(1, &[0, 0, 1]), [0, 0, 1]);
    assert_eq!(allocate(1, &[0, 5, 5]), [0, 1, 0]);
}

#[test]
fn negative_amounts() {
    assert_eq!(allocate(-100, &[1, 1, 1]), [-34, -33, -33]);
    assert_eq!(allocate(-5, &[30, 70]), [-2, -3]);
    assert_eq!(allocate(-10, &[4, 7, 89]), [0, -1, -9]);
    assert_eq!(allocate(-1, &[0, 5, 5]), [0, -1, 0]);
}

#[test]
fn extremes() {
    assert_eq!(allocate(i64::MAX, &[u64::MAX]), [i64::MAX]);
    assert_eq!(allocate(i64::MIN, &[u64::MAX]), [i64::MIN]);
    assert_eq!(allocate(i64::MIN, &[1]), [i64::MIN]);
    assert_eq!(allocate(i64::MIN, &[u64::MAX, u64::MAX]), [i64::MIN / 2, i64::MIN / 2]);
    assert_eq!(
        allocate(i64::MAX, &[u64::MAX, u64::MAX]),
        [i64::MAX / 2 + 1, i64::MAX / 2]
    );
    assert_eq!(allocate(i64::MIN, &[0, u64::MAX, 0]), [0, i64::MIN, 0]);
    let shares = allocate(i64::MAX, &[u64::MAX; 5]);
    assert_eq!(shares, [1844674407370955162, 1844674407370955162, 1844674407370955161, 1844674407370955161, 1844674407370955161]);
    // The weights differ in the last digit only, which a float would lose.
    assert_eq!(allocate(1, &[u64::MAX - 1, u64::MAX]), [0, 1]);
    assert_eq!(allocate(1 << 60, &[1 << 60, 1 << 60, 1]), [1 << 59, 1 << 59, 0]);
}

#[test]
fn nothing_to_divide_by() {
    for units in [-1, 0, 1] {
        let money = Money::new(units, EUR);
        assert_eq!(money.allocate(&[]), Err(MoneyError::NoWeights));
        assert_eq!(money.allocate(&[0, 0]), Err(MoneyError::NoWeights));
    }
}

#[test]
fn messages() {
    assert_eq!(MoneyError::NoWeights.to_string(), "there is nothing to divide by");
    assert_eq!(MoneyError::DiscountOutOfRange.to_string(), "the discount is out of range");
    assert_eq!(MoneyError::CurrencyMismatch.to_string(), "the currencies differ");
}

#[test]
fn against_exact_fractions() {
    let mut state = 99u64;
    let mut random = |n: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % n
    };
    for _ in 0..2000 {
        let weights: Vec<u64> = (0..1 + random(6)).map(|_| random(8)).collect();
        let total: u64 = weights.iter().sum();
        if total == 0 {
            continue;
        }
        let units = random(60);
        let mut expected: Vec<u64> = weights.iter().map(|w| units * w / total).collect();
        let mut lost: Vec<u64> = weights.iter().map(|w| units * w % total).collect();
        for _ in 0..units - expected.iter().sum::<u64>() {
            let most = *lost.iter().max().unwrap();
            let i = lost.iter().position(|&x| x == most).unwrap();
            expected[i] += 1;
            lost[i] = 0;
        }
        let expected: Vec<i64> = expected.iter().map(|&x| x as i64).collect();
        assert_eq!(allocate(units as i64, &weights), expected, "{units} by {weights:?}");
        let negated: Vec<i64> = expected.iter().map(|x| -x).collect();
        assert_eq!(allocate(-(units as i64), &weights), negated, "-{units} by {weights:?}");
    }
}

#[test]
fn discount_over_lines() {
    assert_eq!(discounted(&[1000, 2000, 3000], 600), Ok(vec![900, 1800, 2700]));
    assert_eq!(discounted(&[100, 100, 100], 100), Ok(vec![66, 67, 67]));
    assert_eq!(discounted(&[500], 1), Ok(vec![499]));
}

#[test]
fn discount_leaves_credits_alone() {
    assert_eq!(discounted(&[1000, -400, 1000], 1000), Ok(vec![500, -400, 500]));
    assert_eq!(discounted(&[300, 0, -100, 100], 100), Ok(vec![225, 0, -100, 75]));
    assert_eq!(discounted(&[-100, 101], 1), Ok(vec![-100, 100]));
}

#[test]
fn discount_of_everything() {
    assert_eq!(discounted(&[1, 2, 97], 100), Ok(vec![0, 0, 0]));
    assert_eq!(discounted(&[1, 1, 1, -2], 1), Ok(vec![0, 1, 1, -2]));
    assert_eq!(discounted(&[i64::MAX, 0], i64::MAX), Ok(vec![0, 0]));
    for discount in 0..=12 {
        let lines = discounted(&[1, 1, 1, 7, 2, 0, 0], discount).unwrap();
        assert!(lines.iter().all(|&units| units >= 0));
    }
}

#[test]
fn discount_of_nothing() {
    assert_eq!(discounted(&[], 0), Ok(vec![]));
    assert_eq!(discounted(&[0, 0], 0), Ok(vec![0, 0]));
    assert_eq!(discounted(&[5, -5], 0), Ok(vec![5, -5]));
    assert_eq!(discounted(&[5, 7], 0), Ok(vec![5, 7]));
}

#[test]
fn discount_out_of_range() {
    let error = Err(MoneyError::DiscountOutOfRange);
    assert_eq!(discounted(&[100], 101), error);
    assert_eq!(discounted(&[100], -1), error);
    assert_eq!(discounted(&[100], i64::MIN), error);
    assert_eq!(discounted(&[100, -50], 51), error);
    assert_eq!(discounted(&[], 1), error);
    assert_eq!(discounted(&[0], 1), error);
    assert_eq!(discounted(&[-5], 0), error);
    assert_eq!(discounted(&[-5], -5), error);
}

#[test]
fn discount_errors_of_others() {
    let usd = Money::new(0, Currency::USD);
    assert_eq!(invoice(&[100]).discounted(usd), Err(MoneyError::CurrencyMismatch));
    assert_eq!(invoice(&[]).discounted(usd), Err(MoneyError::CurrencyMismatch));
    let large = invoice(&[i64::MAX, 1]);
    assert_eq!(large.discounted(Money::new(1, EUR)), Err(MoneyError::Overflow));
    // The total fits although the positive lines on their own do not.
    let large = invoice(&[i64::MAX, -i64::MAX, i64::MAX]);
    let lines = large.discounted(Money::new(3, EUR)).unwrap();
    let lines: Vec<i64> = lines.lines().iter().map(|line| line.amount.units()).collect();
    assert_eq!(lines, [i64::MAX - 2, -i64::MAX, i64::MAX - 1]);
}

#[test]
fn what_was_there_before() {
    assert_eq!(Money::new(-5, EUR).to_string(), "-0.05 EUR");
    assert_eq!(Money::new(i64::MIN, Currency::JPY).to_string(), "-9223372036854775808 JPY");
    assert_eq!(Money::new(1, EUR).checked_sub(Money::new(3, EUR)), Ok(Money::new(-2, EUR)));
    assert_eq!(
        Money::new(i64::MAX, EUR).checked_add(Money::new(1, EUR)),
        Err(MoneyError::Overflow)
    );
    assert_eq!(
        Invoice::new(EUR).add("x", Money::new(1, Currency::JPY)),
        Err(MoneyError::CurrencyMismatch)
    );
}
