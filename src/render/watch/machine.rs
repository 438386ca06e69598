//! The machine: packages from top to bottom, in each its caches, in these its cores: a mark for each CPU, side by side for
//! those of a core. Where that has no room, a mark stands for a core, and then for all cores of a cache.

use cotenant_compiler::topology::{Core, Topology};
use cotenant_compiler::{CpuId, CpuSet};
use ratatui::text::{Line, Span};

use super::Scene;

/// From idle to busy.
const MARKS: [&str; 9] = [".", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

/// What a mark stands for, finest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Grain {
    Cpu,
    Core,
    Cache,
}

/// The machine in so many columns and at most so many lines.
pub(super) fn lines(scene: &Scene, width: u16, most: u16) -> Vec<Line<'static>> {
    let (width, most) = (usize::from(width), usize::from(most.max(1)));
    let shares: Vec<Option<CpuSet>> =
        scene.document.classes.iter().map(|class| class.cpus.as_ref()?.parse().ok()).collect();
    let mut lines = Vec::new();
    for grain in [Grain::Cpu, Grain::Core, Grain::Cache] {
        lines = drawn(scene, &shares, grain, width);
        if lines.len() <= most {
            return lines;
        }
    }
    lines.truncate(most - 1);
    lines.push(Line::raw(format!("… {} cores in all, more than fit here", scene.machine.cores().len())));
    lines
}

fn drawn(scene: &Scene, shares: &[Option<CpuSet>], grain: Grain, width: usize) -> Vec<Line<'static>> {
    let machine = &scene.machine;
    let mut lines = Vec::new();
    for package in machine.cores().chunk_by(|a, b| a.package == b.package) {
        let margin = package.first().map_or_else(String::new, |core| margin(machine, core));
        let mut row = Row { width, margin: margin.len(), line: vec![Span::raw(margin)], lines: &mut lines };
        for cache in package.chunk_by(|a, b| cache_name(machine, a) == cache_name(machine, b)) {
            let name = cache.first().map_or_else(String::new, |core| cache_name(machine, core));
            let words = words(scene, shares, grain, cache);
            let apart = usize::from(grain == Grain::Cpu);
            let columns = name.len() + words.iter().map(|word| word.len() + apart).sum::<usize>() - apart;
            // A cache begins where all of it has room, or else as far left as it can.
            row.make_room(1, columns);
            row.line.push(Span::raw(name));
            for (at, word) in words.into_iter().enumerate() {
                row.make_room(apart.min(at), word.len());
                row.line.extend(word);
            }
        }
        row.end();
    }
    match grain {
        Grain::Cpu => {}
        Grain::Core => lines.push(Line::raw("a mark is a core, as busy as the busiest of its CPUs")),
        Grain::Cache => lines.push(Line::raw("a mark is a cache, as busy as its cores on average")),
    }
    lines
}

/// What stays together on a line: the marks of a core, or one mark.
fn words(scene: &Scene, shares: &[Option<CpuSet>], grain: Grain, cache: &[Core]) -> Vec<Vec<Span<'static>>> {
    let load = |cpu: &CpuId| scene.loads.get(cpu).copied().unwrap_or(0.0);
    let busiest = |core: &Core| core.threads.iter().map(load).fold(0.0, f64::max);
    match grain {
        Grain::Cpu => {
            let marks = |core: &Core| {
                core.threads.iter().map(|cpu| mark(scene, shares, &CpuSet::from_iter([*cpu]), load(cpu))).collect()
            };
            cache.iter().map(marks).collect()
        }
        Grain::Core => cache.iter().map(|core| vec![mark(scene, shares, &core.cpus, busiest(core))]).collect(),
        Grain::Cache => {
            let cpus = cache.iter().fold(CpuSet::new(), |all, core| all.union(&core.cpus));
            let mean = cache.iter().map(busiest).sum::<f64>() / cache.len().max(1) as f64;
            vec![vec![mark(scene, shares, &cpus, mean)]]
        }
    }
}

/// As high as the load, in the colour of the first class that may run on any of these CPUs.
fn mark(scene: &Scene, shares: &[Option<CpuSet>], cpus: &CpuSet, load: f64) -> Span<'static> {
    // Anything at all shows.
    let height = (load * 8.0).ceil().clamp(0.0, 8.0) as usize;
    let mark = MARKS.get(height).copied().unwrap_or("?");
    let class = shares.iter().position(|share| share.as_ref().is_some_and(|share| share.intersects(cpus)));
    class.map_or_else(|| Span::raw(mark), |class| Span::styled(mark, scene.style(class)))
}

/// What stands left of a package: its name as policies have it where there are several, and something where nothing else does.
fn margin(machine: &Topology, core: &Core) -> String {
    match machine.packages().len() {
        0 | 1 if cache_name(machine, core).is_empty() => "cores ".to_owned(),
        0 | 1 => String::new(),
        _ => format!("package {} ", core.package),
    }
}

/// As policies name it; nothing where there are no caches, or each has one core.
fn cache_name(machine: &Topology, core: &Core) -> String {
    match core.llc {
        Some(llc) if machine.llcs().len() < machine.cores().len() => format!("llc {llc} "),
        _ => String::new(),
    }
}

/// A line that is being filled; the next begins below the margin.
struct Row<'a> {
    width: usize,
    margin: usize,
    line: Vec<Span<'static>>,
    lines: &'a mut Vec<Line<'static>>,
}

impl Row<'_> {
    /// Begins another line where this one has no room for so many blanks and columns, and another would have more.
    fn make_room(&mut self, blanks: usize, columns: usize) {
        let used: usize = self.line.iter().map(Span::width).sum();
        if used <= self.margin {
            return;
        }
        if used + blanks + columns <= self.width {
            self.line.push(Span::raw(" ".repeat(blanks)));
            return;
        }
        self.lines.push(Line::from(std::mem::take(&mut self.line)));
        self.line.push(Span::raw(" ".repeat(self.margin)));
    }

    fn end(self) {
        self.lines.push(Line::from(self.line));
    }
}
