/**
 * Error correction from silence: the spectral Reed–Solomon decoder (Blahut, "Theory and Practice of Error Control
 * Codes", 1983, chapters 7–9).
 *
 * Silent carriers are written as zero, so whatever they hold after reading is the error's own spectrum. From
 * carrier 511 downwards it is s_i = Σ_j c_j Z_j^i with Z_j = ω^(t_j) for each bad place t_j, and the shortest
 * recurrence that produces it has the locator Λ(x) = Π (1 − Z_j x) as its polynomial:
 *
 *   1. Erased places are known, so Λ starts as their product Γ, and Berlekamp–Massey finds the rest.
 *   2. Λ must vanish at exactly as many places as its degree, or there was too much damage.
 *   3. The recurrence continues s over all 512 carriers; the spectrum as read minus s is the spectrum as written.
 *
 * G silent carriers mend e wrong and f erased words as long as 2e + f < G (≤ where e is 0 or G is a multiple of 8).
 * The reader does not know G: s grows from the top carrier downwards, so one run of Berlekamp–Massey passes all G
 * from weak to strong. It offers a candidate where steps 1 and 2 hold and one more carrier has just confirmed Λ, or
 * else at every eighth G. The seal decides which one is real.
 */

import { assert } from "../base/assert.ts";
import { inverse, N, OMEGA_POWERS, P } from "./field.ts";
import { toSpectrum, transform } from "./transform.ts";

/** Every block has at least this many silent carriers. */
export const GUARD_MIN = 32;
/** A locator that no carrier has confirmed is tried at every eighth carrier only: its roots cost a transform. */
const CLASS_STEP = 8;
/** A product of two elements is below 2^26: this many of them add up exactly in 32 signed bits. */
const LAZY_TERMS = 32;

export interface Candidate {
  /** The mended spectrum, 512 digits. */
  readonly spectrum: Uint16Array;
  /** The silent carriers that were used to mend it. */
  readonly guard: number;
  /** Bad places: the erased ones, and those found to be wrong. */
  readonly badPlaces: number;
}

/**
 * Mends a received block and yields candidates from weak rate classes to strong.
 * @param received 512 symbols; those at erased places are ignored
 * @param erased 1 at the places known to be lost
 * @param guardMax the strongest rate class to try: the most carriers that may be silent
 */
export function* correctErrors(
  received: Uint16Array,
  erased: Uint8Array,
  guardMax: number,
): Generator<Candidate> {
  assert(received.length === N && erased.length === N, "a block has 512 symbols");
  const known = received.slice();
  let erasures = 0;
  for (let t = 0; t < N; t++) {
    if (erased[t] === 0) continue;
    known[t] = 0;
    erasures++;
  }
  const spectrum = toSpectrum(known);
  const syndromes = spectrum.slice().reverse();
  if (erasures === 0 && isSilent(syndromes.subarray(0, GUARD_MIN))) {
    yield { spectrum, guard: GUARD_MIN, badPlaces: 0 }; // Nothing wrong: by far the commonest case.
    return;
  }
  const search = new LocatorSearch(syndromes, erased);
  let triedRevision = -1;
  for (let guard = Math.max(GUARD_MIN, erasures); guard <= guardMax; guard++) {
    search.advanceTo(guard);
    if (!search.confirmed && guard % CLASS_STEP !== 0 && guard !== erasures) continue;
    if (!search.isPlausibleAt(guard)) continue;
    // The same locator as before gives the same spectrum again.
    if (search.revision === triedRevision) continue;
    triedRevision = search.revision;
    const locator = search.locator();
    if (!hasAllRoots(locator)) continue;
    const error = continueRecurrence(syndromes, locator, guard);
    const mended = spectrum.map((digit, k) => (digit - error[N - 1 - k]! + P) % P);
    yield { spectrum: mended, guard, badPlaces: search.length };
  }
}

export function isSilent(digits: Uint16Array): boolean {
  for (let k = 0; k < digits.length; k++) if (digits[k] !== 0) return false;
  return true;
}

/** Berlekamp–Massey with erasures: the shortest recurrence that contains Γ and fits s_0 … s_(i−1). */
class LocatorSearch {
  readonly erasureCount: number;
  length: number;
  /** True when the last syndrome was the one that the locator predicted. */
  confirmed = false;
  /** Grows each time the locator changes. */
  revision = 0;
  readonly #syndromes: Uint16Array;
  #locator = new Int32Array(N + 1);
  #previous = new Int32Array(N + 1);
  #scratch = new Int32Array(N + 1);
  #step: number;

  constructor(syndromes: Uint16Array, erased: Uint8Array) {
    this.#syndromes = syndromes;
    this.#locator[0] = 1;
    let degree = 0;
    for (let t = 0; t < N; t++) {
      if (!erased[t]) continue;
      const root = OMEGA_POWERS[t]!;
      degree++;
      for (let i = degree; i >= 1; i--) {
        this.#locator[i] = (this.#locator[i]! + Math.imul(P - root, this.#locator[i - 1]!)) % P;
      }
    }
    this.#previous.set(this.#locator);
    this.erasureCount = degree;
    this.length = degree;
    this.#step = degree;
  }

  /** Takes the syndromes below `guard` into account. */
  advanceTo(guard: number): void {
    for (; this.#step < guard; this.#step++) {
      const discrepancy = this.#discrepancy(this.#step);
      this.confirmed = discrepancy === 0;
      if (discrepancy === 0) {
        shiftUp(this.#previous);
        continue;
      }
      this.revision++;
      const next = this.#scratch;
      next[0] = this.#locator[0]!;
      const factor = P - discrepancy;
      const reach = Math.min(N, this.#step + 2);
      const locator = this.#locator;
      const previous = this.#previous;
      for (let i = 1; i <= reach; i++) next[i] = (locator[i]! + Math.imul(factor, previous[i - 1]!)) % P;
      if (2 * this.length <= this.#step + this.erasureCount) {
        this.length = this.#step + 1 + this.erasureCount - this.length;
        const scale = inverse(discrepancy);
        for (let i = 0; i <= reach; i++) previous[i] = Math.imul(locator[i]!, scale) % P;
      } else {
        shiftUp(this.#previous);
      }
      this.#scratch = locator;
      this.#locator = next;
    }
  }

  /** True when this many silent carriers are enough for the wrong and erased words found. */
  isPlausibleAt(guard: number): boolean {
    return 2 * (this.length - this.erasureCount) + this.erasureCount <= guard;
  }

  locator(): Int32Array {
    return this.#locator.slice(0, this.length + 1);
  }

  #discrepancy(step: number): number {
    const locator = this.#locator;
    const syndromes = this.#syndromes;
    let sum = 0;
    const reach = Math.min(this.length, step);
    for (let from = 0; from <= reach; from += LAZY_TERMS) {
      const to = Math.min(reach, from + LAZY_TERMS - 1);
      let part = 0;
      for (let i = from; i <= to; i++) part = (part + Math.imul(locator[i]!, syndromes[step - i]!)) | 0;
      sum += part % P;
    }
    return sum % P;
  }
}

/** True when Λ has as many different zeros among ω^(−t) as its degree: then each of its zeros is a place. */
function hasAllRoots(locator: Int32Array): boolean {
  const degree = locator.length - 1;
  if (locator[degree] === 0) return false;
  const padded = new Uint16Array(N);
  for (let i = 0; i <= degree; i++) padded[i & (N - 1)] = (padded[i & (N - 1)]! + locator[i]!) % P;
  let roots = 0;
  for (const value of transform(padded, true)) if (value === 0) roots++;
  return roots === degree;
}

/** s over all 512 carriers: the first `known` as read, the others by the recurrence. */
function continueRecurrence(syndromes: Uint16Array, locator: Int32Array, known: number): Uint16Array {
  const all = new Uint16Array(N);
  all.set(syndromes.subarray(0, known));
  const degree = locator.length - 1;
  if (degree === 0) return all;
  for (let i = known; i < N; i++) {
    let sum = 0;
    for (let from = 1; from <= degree; from += LAZY_TERMS) {
      const to = Math.min(degree, from + LAZY_TERMS - 1);
      let part = 0;
      for (let m = from; m <= to; m++) part = (part + Math.imul(locator[m]!, all[i - m]!)) | 0;
      sum += part % P;
    }
    sum %= P;
    all[i] = sum === 0 ? 0 : P - sum;
  }
  return all;
}

function shiftUp(polynomial: Int32Array): void {
  polynomial.copyWithin(1, 0, polynomial.length - 1);
  polynomial[0] = 0;
}
