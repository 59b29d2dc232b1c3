/**
 * The operations of ../operations.ts in AssemblyScript with SIMD: the same integers and doubles, bit by bit.
 * Compiled by `npm run kernel` into ../kernel-module.generated.ts; a test compares its checksum.
 * Only exact instructions are used: 16-bit dot products summed in 32 bits, and double + - x / floor and square root,
 * each lane on its own. No relaxed SIMD, no fused multiply-add. All arguments named like arrays are addresses.
 */

export { product, sparseProduct } from "./products";
export { attend, blend, convolve, frequencies, keep, norm, squareAboveZero, turn } from "./rows";
