//! A plan as a picture: the machine as nested boxes, as people know it from lstopo, and under each CPU's number a band
//! for each class that may use it.
//!
//! Colours are those of Okabe and Ito, which people with any kind of colour vision tell apart; no text stands on them.

mod boxes;
mod legend;
mod paint;
mod parts;
mod text;

use cotenant_compiler::{CpuId, Plan, topology};

use boxes::{Block, What};
use paint::Palette;
use text::{Canvas, Style, escaped};

/// Width of the picture's content; machines wider than that are wrapped.
const WIDTH: u32 = 1180;

/// Around the content.
const MARGIN: u32 = 20;

/// Height of title and subtitle.
const HEAD: u32 = 58;

/// The whole plan as one SVG document.
pub(crate) fn plan_svg(plan: &Plan) -> String {
    let palette = Palette::of(plan);
    let machine = boxes::lay_out(&plan.topology, palette.most_bands(), WIDTH);
    let mut canvas = Canvas::default();
    head(plan, &mut canvas);
    for block in &machine.blocks {
        draw(block, MARGIN, MARGIN + HEAD, plan, &palette, &mut canvas);
    }
    let mut y = MARGIN + HEAD + machine.height;
    if !plan.topology.offline().is_empty() {
        y += 22;
        let offline = format!("switched off: cpu {}", plan.topology.offline().brief());
        canvas.text(MARGIN, y, Style::Quiet, &offline);
    }
    let width = machine.width.max(legend::LEAST_WIDTH);
    let height = legend::draw(plan, &palette, y + 28, width, &mut canvas) + MARGIN;
    document(plan, &palette, width + 2 * MARGIN, height, &canvas.finish())
}

fn document(plan: &Plan, palette: &Palette, width: u32, height: u32, content: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         role=\"img\" aria-labelledby=\"title description\">\n\
         <title id=\"title\">{}</title>\n<desc id=\"description\">{}</desc>\n\
         <style>{}</style>\n<defs>\n{}</defs>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n{content}</svg>\n",
        escaped(&title(plan)),
        escaped(&topology::summary(&plan.topology)),
        text::STYLES,
        palette.patterns(),
    )
}

fn title(plan: &Plan) -> String {
    let mut names = plan.sources.iter().map(|(_, source)| source.name());
    match (names.next(), names.count()) {
        (None, _) => "placement".to_owned(),
        (Some(one), 0) => format!("placement by {one}"),
        (Some(one), more) => format!("placement by {one} and {more} more"),
    }
}

fn head(plan: &Plan, canvas: &mut Canvas) {
    canvas.text(MARGIN, MARGIN + 18, Style::Title, &title(plan));
    canvas.text(MARGIN, MARGIN + 38, Style::Quiet, &topology::summary(&plan.topology));
}

fn draw(block: &Block, x: u32, y: u32, plan: &Plan, palette: &Palette, canvas: &mut Canvas) {
    let (x, y) = (x + block.x, y + block.y);
    match &block.what {
        What::Part { label, blocks, depth } => {
            let fill = if depth % 2 == 0 { "#f2f4f7" } else { "#fbfcfd" };
            canvas.rect((x, y, block.width, block.height), fill, "#98a2b3", 6);
            canvas.text(x + boxes::PADDING, y + 15, Style::Label, label);
            for inner in blocks {
                draw(inner, x, y, plan, palette, canvas);
            }
        }
        What::Core { number, threads } => {
            canvas.rect((x, y, block.width, block.height), "#ffffff", "#667085", 3);
            let label = boxes::core_label(&plan.topology, *number);
            canvas.text(x + 5, y + 11, Style::Small, &label);
            for (at, cpu) in threads.iter().enumerate() {
                let inside = block.width - 2 * boxes::CORE_PADDING;
                let cell = inside / threads.len() as u32;
                let left = x + boxes::CORE_PADDING + at as u32 * cell;
                thread(*cpu, &label, (left, y + boxes::CORE_HEAD, cell, block.height), plan, palette, canvas);
            }
        }
    }
}

/// A CPU: its number, and a band for each class.
fn thread(
    cpu: CpuId,
    core: &str,
    (x, y, width, core_height): (u32, u32, u32, u32),
    plan: &Plan,
    palette: &Palette,
    canvas: &mut Canvas,
) {
    let height = core_height - boxes::CORE_HEAD - boxes::CORE_PADDING;
    let bands = palette.bands(cpu);
    let said: Vec<String> = bands.iter().map(|band| band.words(plan)).collect();
    let said = if said.is_empty() { "no class of the policy".to_owned() } else { said.join("; ") };
    canvas.open(&format!("cpu {cpu}, {core}: {said}"));
    canvas.number(x + width / 2, y + 12, &cpu.to_string());
    let (top, area) = (y + boxes::NUMBER, height - boxes::NUMBER);
    let (left, wide) = (x + 1, width.saturating_sub(2));
    if bands.is_empty() {
        canvas.band((left, top, wide, area), paint::NOBODY);
    }
    let count = bands.len() as u32;
    for (at, band) in (0..).zip(&bands) {
        // Rounded so that the bands fill the area without gaps.
        let (from, to) = (area * at / count, area * (at + 1) / count);
        canvas.band((left, top + from, wide, to - from), &band.fill());
    }
    canvas.close();
}

#[cfg(test)]
mod tests;
