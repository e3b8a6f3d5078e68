//! `CPython`'s seeded shuffle (MT19937 and `random.shuffle`), so that batches equal those of the Python
//! system for the same seed. Source: Matsumoto and Nishimura, "Mersenne Twister", 1998, with the seeding by
//! array that `CPython` uses for integers.

const N: usize = 624;
const M: usize = 397;

/// A generator that repeats `random.Random(seed)`.
#[derive(Clone, Debug)]
pub struct PythonRandom {
    state: [u32; N],
    index: usize,
}

impl PythonRandom {
    /// Seeds with a non-negative integer.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let low = lower_32(seed);
        let high = lower_32(seed >> 32);
        let key: &[u32] = if high == 0 { &[low] } else { &[low, high] };
        let mut random = Self::from_word(19_650_218);
        random.mix_key(key);
        random
    }

    /// Shuffles in place like `random.shuffle`.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            let j = self.below(i + 1);
            items.swap(i, j);
        }
    }

    /// A number below `bound`, at least 1, like `random._randbelow`.
    fn below(&mut self, bound: usize) -> usize {
        let bits = usize::BITS - bound.leading_zeros();
        loop {
            let value = self.bits(bits);
            if value < bound {
                return value;
            }
        }
    }

    /// `getrandbits` for up to 32 bits; more tasks than that do not fit in memory.
    fn bits(&mut self, bits: u32) -> usize {
        let word = self.word() >> (32 - bits.clamp(1, 32));
        usize::try_from(word).unwrap_or(usize::MAX)
    }

    fn from_word(seed: u32) -> Self {
        let mut state = [0u32; N];
        state[0] = seed;
        for (i, number) in (1..N).zip(1u32..) {
            let previous = state[i - 1];
            state[i] =
                1_812_433_253u32.wrapping_mul(previous ^ (previous >> 30)).wrapping_add(number);
        }
        Self { state, index: N }
    }

    fn mix_key(&mut self, key: &[u32]) {
        let (mut i, mut j) = (1, 0);
        for _ in 0..N.max(key.len()) {
            let previous = self.state[i - 1];
            let mixed = self.state[i] ^ (previous ^ (previous >> 30)).wrapping_mul(1_664_525);
            self.state[i] = mixed.wrapping_add(key[j]).wrapping_add(lower_32(j as u64));
            i = self.next_index(i);
            j = (j + 1) % key.len();
        }
        for _ in 0..N - 1 {
            let previous = self.state[i - 1];
            let mixed = self.state[i] ^ (previous ^ (previous >> 30)).wrapping_mul(1_566_083_941);
            self.state[i] = mixed.wrapping_sub(lower_32(i as u64));
            i = self.next_index(i);
        }
        self.state[0] = 0x8000_0000;
    }

    fn next_index(&mut self, i: usize) -> usize {
        if i + 1 < N {
            return i + 1;
        }
        self.state[0] = self.state[N - 1];
        1
    }

    fn word(&mut self) -> u32 {
        if self.index >= N {
            self.twist();
        }
        let mut y = self.state[self.index];
        self.index += 1;
        y ^= y >> 11;
        y ^= (y << 7) & 0x9d2c_5680;
        y ^= (y << 15) & 0xefc6_0000;
        y ^ (y >> 18)
    }

    fn twist(&mut self) {
        for i in 0..N {
            let y = (self.state[i] & 0x8000_0000) | (self.state[(i + 1) % N] & 0x7fff_ffff);
            let odd = if y & 1 == 1 { 0x9908_b0df } else { 0 };
            self.state[i] = self.state[(i + M) % N] ^ (y >> 1) ^ odd;
        }
        self.index = 0;
    }
}

fn lower_32(value: u64) -> u32 {
    u32::try_from(value & 0xffff_ffff).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(0, [7, 8, 1, 5, 3, 4, 2, 0, 9, 6])]
    #[case(42, [7, 3, 2, 8, 5, 6, 9, 4, 0, 1])]
    #[case(1042, [6, 4, 1, 9, 7, 8, 0, 5, 2, 3])]
    #[case(1099511627781, [1, 2, 3, 6, 7, 0, 5, 4, 9, 8])]
    fn shuffles_equal_those_of_cpython(#[case] seed: u64, #[case] expect: [u8; 10]) {
        let mut items: [u8; 10] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
        PythonRandom::new(seed).shuffle(&mut items);
        assert_eq!(items, expect);
    }

    #[test]
    fn a_shuffle_is_a_permutation() {
        let mut items: Vec<u32> = (0..1000).collect();
        PythonRandom::new(7).shuffle(&mut items);
        items.sort_unstable();
        assert_eq!(items, (0..1000).collect::<Vec<_>>());
    }
}
