//! The machine: a mark for each CPU, side by side for those of a core, a line or more for each cache.

use cotenant_compiler::{CpuId, CpuSet};
use ratatui::text::{Line, Span};

use super::Scene;

/// From idle to busy.
const MARKS: [&str; 9] = [".", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

/// The machine in so many columns and at most so many lines.
pub(super) fn lines(scene: &Scene, width: u16, most: u16) -> Vec<Line<'static>> {
    let (machine, most) = (&scene.machine, usize::from(most.max(1)));
    let shares: Vec<Option<CpuSet>> =
        scene.document.classes.iter().map(|class| class.cpus.as_ref()?.parse().ok()).collect();
    let caches = machine.cores().iter().map(|core| core.llc).collect::<std::collections::BTreeSet<_>>();
    let mut lines = Vec::new();
    let mut folded = 0;
    for cache in caches {
        let label = cache.map_or_else(|| "CPUs  ".to_owned(), |llc| format!("LLC{llc:<3}"));
        let mut line = vec![Span::raw(label.clone())];
        let mut column = label.len();
        for core in machine.cores().iter().filter(|core| core.llc == cache) {
            if column + core.threads.len() > usize::from(width) {
                lines.push(Line::from(std::mem::take(&mut line)));
                line.push(Span::raw(" ".repeat(label.len())));
                column = label.len();
            }
            if lines.len() >= most {
                folded += 1;
                continue;
            }
            line.extend(core.threads.iter().map(|cpu| mark(scene, *cpu, &shares)));
            line.push(Span::raw(" "));
            column += core.threads.len() + 1;
        }
        if lines.len() < most && line.len() > 1 {
            lines.push(Line::from(line));
        }
    }
    if folded > 0 {
        lines.pop();
        lines.push(Line::raw(format!("      … {} cores in all, more than fit here", machine.cores().len())));
    }
    lines
}

fn mark(scene: &Scene, cpu: CpuId, shares: &[Option<CpuSet>]) -> Span<'static> {
    let load = scene.loads.get(&cpu).copied().unwrap_or(0.0);
    // Anything at all shows.
    let height = (load * 8.0).ceil().clamp(0.0, 8.0) as usize;
    let mark = MARKS.get(height).copied().unwrap_or("?");
    let class = shares.iter().position(|share| share.as_ref().is_some_and(|share| share.contains(cpu)));
    class.map_or_else(|| Span::raw(mark), |class| Span::styled(mark, scene.style(class)))
}
