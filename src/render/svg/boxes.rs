//! Where each box goes. Boxes inside a box stand in rows, as many in each as fit and about as many in one as in another.

use cotenant_compiler::CpuId;
use cotenant_compiler::topology::{CoreKind, Topology};

use super::parts::{Inside, Part, machine};

/// Between a box's border and what it holds.
pub(super) const PADDING: u32 = 8;
/// Between boxes.
const GAP: u32 = 6;
/// Height of a part's label.
const LABEL: u32 = 22;
/// Between a core's border and its threads.
pub(super) const CORE_PADDING: u32 = 3;
/// Height of a core's label.
pub(super) const CORE_HEAD: u32 = 15;
/// Height of a CPU's number.
pub(super) const NUMBER: u32 = 16;
/// Width of a CPU: four digits fit. As of the others, a pattern fits into it without a rest.
const THREAD: u32 = 29;
/// Width of the narrowest core: its label fits.
const NARROWEST: u32 = 56;
/// The same where cores are marked as performance or efficiency.
const NARROWEST_MARKED: u32 = 65;
/// Bounds of the height of the area of bands.
const LOWEST: u32 = 20;
const HIGHEST: u32 = 72;
/// Height of one band, while all fit.
const BAND: u32 = 9;

/// A box, placed from the corner of the one around it.
pub(super) struct Block {
    pub(super) x: u32,
    pub(super) y: u32,
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) what: What,
}

pub(super) enum What {
    Part { label: String, blocks: Vec<Block>, depth: u32 },
    Core { number: usize, threads: Vec<CpuId> },
}

/// Boxes and the room they take.
pub(super) struct Arranged {
    pub(super) blocks: Vec<Block>,
    pub(super) width: u32,
    pub(super) height: u32,
}

/// Lays the machine out within a width, with room for so many bands in each CPU.
pub(super) fn lay_out(topology: &Topology, bands: usize, width: u32) -> Arranged {
    inside(machine(topology), topology, bands, width, 0)
}

/// `core 3`, and the kind where there are two.
pub(super) fn core_label(topology: &Topology, number: usize) -> String {
    let kind = topology.cores().get(number).map(|core| core.kind);
    match kind.filter(|_| is_hybrid(topology)) {
        Some(CoreKind::Performance) => format!("core {number} · P"),
        Some(CoreKind::Efficiency) => format!("core {number} · E"),
        None => format!("core {number}"),
    }
}

fn is_hybrid(topology: &Topology) -> bool {
    topology.cores().iter().any(|core| core.kind == CoreKind::Efficiency)
}

fn inside(inside: Inside, topology: &Topology, bands: usize, width: u32, depth: u32) -> Arranged {
    let blocks = match inside {
        Inside::Cores(cores) => cores.into_iter().filter_map(|number| core(number, topology, bands)).collect(),
        Inside::Parts(parts) => parts.into_iter().map(|it| part(it, topology, bands, width, depth)).collect(),
    };
    rows(blocks, width)
}

fn part(part: Part, topology: &Topology, bands: usize, width: u32, depth: u32) -> Block {
    let mut inner = inside(part.inside, topology, bands, width.saturating_sub(2 * PADDING), depth + 1);
    for block in &mut inner.blocks {
        (block.x, block.y) = (block.x + PADDING, block.y + LABEL);
    }
    // A character of a label is about six pixels wide.
    let label = part.label.chars().count() as u32 * 7;
    Block {
        x: 0,
        y: 0,
        width: inner.width.max(label) + 2 * PADDING,
        height: inner.height + LABEL + PADDING,
        what: What::Part { label: part.label, blocks: inner.blocks, depth },
    }
}

fn core(number: usize, topology: &Topology, bands: usize) -> Option<Block> {
    let threads = topology.cores().get(number)?.threads.clone();
    let narrowest = if is_hybrid(topology) { NARROWEST_MARKED } else { NARROWEST };
    let width = (threads.len() as u32 * THREAD).max(narrowest) + 2 * CORE_PADDING;
    let area = (bands as u32 * BAND).clamp(LOWEST, HIGHEST);
    let height = CORE_HEAD + NUMBER + area + CORE_PADDING;
    Some(Block { x: 0, y: 0, width, height, what: What::Core { number, threads } })
}

fn rows(blocks: Vec<Block>, width: u32) -> Arranged {
    let total: u32 = blocks.iter().map(|block| block.width + GAP).sum();
    let widest = blocks.iter().map(|block| block.width).max().unwrap_or(0);
    let rows = total.div_ceil(width.max(widest + GAP));
    // Half a box more than the even share, lest rounding begin one more row.
    let limit = (total.div_ceil(rows.max(1)) + widest / 2).min(width.max(widest) + GAP);
    let mut arranged = Arranged { blocks: Vec::new(), width: 0, height: 0 };
    let (mut x, mut y, mut lowest) = (0, 0, 0);
    for mut block in blocks {
        if x > 0 && x + block.width > limit {
            (x, y, lowest) = (0, y + lowest + GAP, 0);
        }
        (block.x, block.y) = (x, y);
        lowest = lowest.max(block.height);
        arranged.width = arranged.width.max(x + block.width);
        arranged.height = y + lowest;
        x += block.width + GAP;
        arranged.blocks.push(block);
    }
    arranged
}
